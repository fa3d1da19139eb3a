/** The page of `acp-host serve`: the view over the whole window, fed by the server that the page comes from. */
import { connectFeed, mount } from "./view.js";

const address = new URL("feed", location.href);
address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
address.search = "";
address.hash = "";
mount(document.getElementById("view")!, connectFeed(address.href), { focus: true });
