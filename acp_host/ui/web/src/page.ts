/** The page of `acp-host serve`: the view over the whole window, fed by the server that the page comes from. */
import { connectFeed, mount } from "./view.js";

mount(document.getElementById("view")!, connectFeed("feed"), { focus: true });
