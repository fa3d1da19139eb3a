/** What `view.js` gives: the view for pages, and, as its default, the notebook widget for anywidget. */
export { connectFeed } from "./socket";
export type { Transport } from "./feed";
export { mount } from "./mount";
export { default } from "./widget";
