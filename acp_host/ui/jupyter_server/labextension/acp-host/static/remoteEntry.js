// The plugin for JupyterLab and Notebook 7: a command, a card in the launcher and an entry in the menu View that open the
// agents of the server. It is written as those applications load extensions (a container of module federation), so that
// nothing has to be built.
(() => {
  const COMMAND = "acp-host:open";
  let shared = {};

  /** Returns a module of the application; `null` where it has none. */
  async function ofApplication(name) {
    const [version] = Object.values(shared[name] ?? {});
    return version === undefined ? null : (await version.get())();
  }

  /** Returns a tab with the pages of the server's agents. */
  function tab({ IFrame, MainAreaWidget }, url) {
    const content = new IFrame({ sandbox: ["allow-scripts", "allow-same-origin", "allow-forms", "allow-popups"] });
    content.url = url;
    content.title.label = "Agents";
    content.title.closable = true;
    return new MainAreaWidget({ content });
  }

  async function extension() {
    const apputils = await ofApplication("@jupyterlab/apputils");
    const launcher = await ofApplication("@jupyterlab/launcher");
    const mainMenu = await ofApplication("@jupyterlab/mainmenu");
    const tokens = [apputils?.ICommandPalette, launcher?.ILauncher, mainMenu?.IMainMenu];
    return {
      id: "acp-host:plugin",
      description: "Opens the agents of the server.",
      autoStart: true,
      optional: tokens.filter((token) => token),
      activate(app, ...services) {
        const [palette, cards, menus] = tokens.map((token) => (token ? services.shift() : null));
        const url = `${app.serviceManager.serverSettings.baseUrl}acp/`;
        const hasTabs = app.name === "JupyterLab";
        app.commands.addCommand(COMMAND, {
          label: "Agents",
          caption: "The agents of this server",
          execute: () => {
            if (hasTabs) app.shell.add(tab(apputils, url), "main");
            else window.open(url, "_blank", "noopener");
          },
        });
        palette?.addItem({ command: COMMAND, category: "Agents" });
        cards?.add({ command: COMMAND, category: "Other" });
        menus?.viewMenu.addGroup([{ command: COMMAND }], 100);
      },
    };
  }

  (window._JUPYTERLAB ??= {})["acp-host"] = {
    init: (scope) => {
      shared = scope;
    },
    get: async () => {
      const plugin = await extension();
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
