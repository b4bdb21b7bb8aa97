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

    function plots() {
        const parent = body("plots");
        if (!study.hasMeasured) {
            const why =
                "Nothing was measured, so there is no parity and there are no residuals here: mmgp report --runs takes timed runs of a program, and mmgp validate runs one.";
            parent.before(element("p", { class: "note" }, why));
        }
        plotsOfTimes.draw(parent);
        plotsOfErrors.draw(parent);
        plotOfMap.draw(parent);
        plotsOfTerms.stacked(parent);
    }

    function benchmarks() {
        if (data.benchmarks.length === 0) {
            body("benchmarks").append(
                element(
                    "p",
                    { class: "note" },
                    "No micro-benchmark files lay beside the parameters.",
                ),
            );
            return;
        }
        for (const each of data.benchmarks) plotsOfTerms.benchmark(body("benchmarks"), each);
    }

    /** Compares the page's equations with the library's; the what-if panel stands on this. */
    function check() {
        const found = equations.largestDifference(data.parameters, study.configurations);
        const isEqual = Object.values(found).every(
            (each) => each === null || each <= equations.TOLERANCE,
        );
        const words = (value) => (value === 0 ? "0" : text.digits(value));
        const refined =
            found.refined_s === null ? "" : `, of the refined model ${words(found.refined_s)}`;
        const sentence = `Over ${text.count(study.size)} configurations, the largest relative difference between this page's own evaluation and the library's: of equation 11 ${words(found.time_s)}${refined}; at most 1e−12 is allowed.`;
        return { isEqual, sentence };
    }

    function whatIfSection({ isEqual, sentence }) {
        if (isEqual) {
            whatIfPanel.create(body("what-if"));
            return;
        }
        const warning = `This page evaluates the model otherwise than the library did, so it answers no what-if. ${sentence}`;
        body("what-if").append(element("p", { class: "alarm", role: "alert" }, warning));
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
    plots();
    const equality = check();
    whatIfSection(equality);
    tableOfConfigurations.draw(body("configurations"));
    tablesOfParameters.draw(body("parameters"));
    tablesOfStudy.ofNext(body("next"));
    tablesOfStudy.ofWarnings(body("warnings"));
    benchmarks();
    provenance(equality);
    study.select(0);
    charts.spoken.textContent = "";
})();
