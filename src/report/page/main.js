// Puts the page together.
(() => {
    const { element } = text;
    const { data } = study;
    const body = (id) => document.querySelector(`#${id} .body`);

    /** Light or dark as the system has it, or as chosen here; remembered as long as the page is open. */
    function theme() {
        const button = document.getElementById("theme");
        const isDark = () => {
            const chosen = document.documentElement.dataset.theme;
            return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
        };
        const tell = () => (button.textContent = isDark() ? "Light colours" : "Dark colours");
        button.addEventListener("click", () => {
            document.documentElement.dataset.theme = isDark() ? "light" : "dark";
            tell();
        });
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
        tell();
    }

    /** Lets the pictures answer, and says why some are not there. */
    function pictures() {
        if (!study.hasMeasured) {
            const why =
                "Nothing was measured, so there is no parity and there are no residuals here: mmgp report --runs takes timed runs of a program, and mmgp validate runs one.";
            body("plots").before(element("p", { class: "note" }, why));
        }
        if (!body("benchmarks").firstElementChild) {
            const why = "No micro-benchmark files lay beside the parameters.";
            body("benchmarks").append(element("p", { class: "note" }, why));
        }
        for (const figure of document.querySelectorAll("figure.chart")) charts.attach(figure);
    }

    function provenance({ sentence }) {
        const { provenance: from } = data;
        const facts = [
            ["command", from.command && element("code", {}, text.name(from.command))],
            ["measured by", from.version && `mmgp ${from.version}`],
            ["page by", data.generator],
            ["seed", from.seed],
            ["application", from.application && text.name(from.application)],
            [
                "machine",
                from.machine && [
                    text.name(from.machine.name),
                    from.machine.description && ": ",
                    text.name(from.machine.description ?? ""),
                ],
            ],
            ["parameters", text.name(data.parameters.name)],
            [
                "decomposition",
                study.isData ? "data" : `task, ${text.count(study.model.tasks)} tasks`,
            ],
            ["APUs", text.count(study.model.apus)],
            ["equations", sentence],
        ];
        const isKnown = ([, value]) => value !== null && value !== undefined && value !== "";
        const list = facts
            .filter(isKnown)
            .map(([label, value]) => [
                element("dt", {}, label),
                element(
                    "dd",
                    { class: "name" },
                    ...[value].flat().map((each) => (each instanceof Node ? each : String(each))),
                ),
            ]);
        body("provenance").append(element("dl", { class: "facts wide" }, list));
        if (from.inputs.length) tablesOfStudy.ofInputs(body("provenance"));
    }

    document.body.append(charts.tip, charts.spoken);
    for (const section of document.querySelectorAll("[data-scripted]")) section.hidden = false;
    theme();
    study.onSelect(panel.show);
    study.onSelect(charts.select);
    pictures();
    const equality = whatIfSection.draw(body("what-if"));
    tableOfConfigurations.draw(body("configurations"));
    tablesOfParameters.draw(body("parameters"));
    tablesOfStudy.ofNext(body("next"));
    tablesOfStudy.ofWarnings(body("warnings"));
    provenance(equality);
    study.select(0);
    charts.spoken.textContent = "";
})();
