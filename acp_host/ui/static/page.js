import{connectFeed as e,mount as t}from"./view.js";t(document.getElementById("view"),e("feed"),{focus:!0});
