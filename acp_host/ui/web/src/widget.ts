/** The view as a notebook widget, in the form that anywidget loads; acp_host/ui/jupyter is the other end. */
import { followTheme } from "./host_theme";
import { mount } from "./mount";
import { ServerTransport } from "./server_transport";
import { type Model, WidgetTransport } from "./widget_transport";

export default { render };

/** Shows the widget in a place that the notebook has for it; returns what ends that. */
function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const frame = document.createElement("div");
  frame.className = "acp-widget";
  frame.style.height = `${Number(model.get("height"))}px`;
  // Keys that are pressed in the view are not the notebook's, whose `dd` deletes a cell; nor is its menu ours.
  frame.dataset.lmSuppressShortcuts = "true";
  frame.dataset.jpSuppressContextMenu = "true";
  frame.addEventListener("keydown", (event) => event.stopPropagation());
  const note = document.createElement("div");
  note.className = "acp-widget-note";
  note.role = "status";
  const place = document.createElement("div");
  place.className = "acp-widget-view";
  frame.append(note, place);
  el.append(frame);
  const leaveTheme = followTheme(frame);
  const tell = (words: string) => (note.textContent = words);
  const agent = String(model.get("agent") ?? "");
  const end = mount(place, agent === "" ? new WidgetTransport(model, tell) : new ServerTransport(agent, tell));
  return () => {
    end();
    leaveTheme();
    frame.remove();
  };
}
