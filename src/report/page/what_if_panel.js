// The what-if panel: its fields, what comes out, and the address that holds its state.
const whatIfPanel = (() => {
    const { element } = text;
    const { given, base, NAMES } = whatIf;
    const rows = new Map();
    const fields = {};
    const message = element("div", { class: "message", "aria-live": "polite" });
    const ranking = element("div", {
        class: "scroller",
        tabindex: 0,
        role: "region",
        "aria-label": "The fastest configurations by the changed terms",
    });
    const curves = element("div");
    let chart = null;
    let isWaiting = false;
    /** What is wrong with a field, by the name of its row; while there is any there is no answer. */
    const wrong = new Map();
    const complaints = new Map();

    /** The place below a row where it says what is wrong. */
    function complaint(row) {
        const node = element("span", { class: "complaint", id: `wrong-${row}`, role: "alert" });
        complaints.set(row, node);
        return node;
    }

    /** Refuses what was typed into a field of a row, or takes that back where `advice` is null. */
    function refuse(row, name, inputs, advice) {
        const isNew = wrong.has(row) !== (advice !== null);
        if (advice === null) wrong.delete(row);
        else wrong.set(row, name);
        complaints.get(row).textContent = advice ?? "";
        for (const [input, isWrong] of inputs) {
            input.setAttribute("aria-invalid", String(isWrong));
            if (isWrong) input.setAttribute("aria-describedby", `wrong-${row}`);
            else input.removeAttribute("aria-describedby");
        }
        if (isNew) later();
    }

    /** At most one computation for each picture on the screen, however fast a slider moves. */
    function later() {
        if (isWaiting) return;
        isWaiting = true;
        requestAnimationFrame(() => {
            isWaiting = false;
            render();
        });
    }

    /** Changes the state, and the address with it. */
    function change(edit) {
        edit(whatIf.state());
        remember();
        later();
    }

    function remember() {
        const hash = whatIf.toHash();
        history.replaceState(null, "", hash || location.pathname + location.search);
    }

    /** A row of the panel: slider and factor, and the value where there is a single one. */
    function termRow(term) {
        const [symbol, meaning, unit] = NAMES[term];
        const [holder, key, isWhole] = whatIf.place(given, term);
        const original = holder[key];
        const isTable = whatIf.isOverM(term);
        const ofWhat = term === "alpha" ? `excess of ${symbol} over 1` : symbol;
        const factor = number({ "aria-label": `factor of ${ofWhat}`, min: 0, step: "any" });
        const slider = element("input", {
            type: "range",
            min: -4,
            max: 4,
            step: 0.125,
            "aria-label": `factor of ${ofWhat}, slider of powers of two`,
        });
        const typed = text.fieldUnit(original, unit);
        const value = isTable
            ? null
            : number({
                  "aria-label": `value of ${symbol}${unit && ` in ${typed.unit}`}`,
                  min: isWhole ? 1 : 0,
                  step: isWhole ? 1 : "any",
              });
        // Through text, so that what is typed is met to the last digit.
        const inBaseUnit = (written) =>
            /e/i.test(written)
                ? Number(written) * 10 ** typed.exponent
                : Number(`${written}e${typed.exponent}`);
        const accept = (input, wanted, isFactor) => {
            const isGood = input.value !== "" && whatIf.isAllowed(term, wanted, isFactor);
            refuse(term, symbol, [[input, !isGood]], isGood ? null : whatIf.advice(term, isFactor));
            if (!isGood) return;
            const isGiven = isFactor ? wanted === 1 : wanted === original;
            change(({ changes }) => {
                if (isGiven) delete changes[term];
                else changes[term] = isFactor ? { factor: wanted } : { value: wanted };
            });
            show(input);
        };
        const show = (except) => {
            const now = whatIf.state().changes[term] ?? { factor: 1 };
            const scale = now.factor ?? (original ? now.value / original : 1);
            const written = Number(scale.toPrecision(6));
            if (factor !== except && !isWhole) factor.value = written;
            if (slider !== except && !isWhole) slider.value = scale > 0 ? Math.log2(scale) : -4;
            if (value && value !== except) {
                const size = (now.value ?? original * now.factor) / 10 ** typed.exponent;
                value.value = Number(size.toPrecision(isWhole ? 15 : 6));
            }
            const others = [factor, slider, value].filter((input) => input && input !== except);
            refuse(term, symbol, others.map((input) => [input, false]), null);
            row.classList.toggle("changed", Boolean(whatIf.state().changes[term]));
        };
        // Nothing is as large as any multiple of nothing: only a value changes that.
        for (const input of [factor, slider]) input.disabled = original === 0;
        factor.addEventListener("input", () => accept(factor, Number(factor.value), true));
        slider.addEventListener("input", () =>
            accept(slider, Number((2 ** Number(slider.value)).toPrecision(4)), true),
        );
        value?.addEventListener("input", () => accept(value, inBaseUnit(value.value), false));
        const about = term === "alpha" ? `${meaning}; factor of its excess over 1` : meaning;
        const row = element(
            "div",
            { class: "term", role: "group", "aria-label": `${symbol}: ${meaning}` },
            element("span", { class: "about" }, element("b", {}, symbol), about),
            isWhole
                ? element("span")
                : element("span", { class: "scale" }, slider, "×\u00a0", factor),
            value
                ? element(
                      "span",
                      { class: "value" },
                      "=\u00a0",
                      value,
                      element("span", { class: "unit" }, typed.unit),
                  )
                : null,
            complaint(term),
        );
        rows.set(term, show);
        return row;
    }

    const number = (attributes) =>
        element("input", { type: "number", inputmode: "decimal", ...attributes });

    const WHOLE = { apus: "APUs", tasks: "independent tasks" };
    const refuseNot = (key) => refuse(key, WHOLE[key], [[fields[key], false]], null);

    /** APUs and decomposition. */
    function machineFields() {
        fields.apus = number({ min: 1, max: whatIf.MOST_APUS, step: 1 });
        fields.tasks = number({ min: 1, step: 1 });
        fields.decomposition = element(
            "select",
            {},
            element("option", { value: "data" }, "data"),
            element("option", { value: "task" }, "task"),
        );
        const whole = (input, key, most) => {
            const wanted = Number(input.value);
            const isGood = Number.isInteger(wanted) && wanted >= 1 && wanted <= most;
            const advice = `A whole number from 1 to ${text.count(most)} is needed.`;
            refuse(key, WHOLE[key], [[input, !isGood]], isGood ? null : advice);
            if (isGood) change((state) => (state[key] = wanted));
        };
        fields.apus.addEventListener("input", () => whole(fields.apus, "apus", whatIf.MOST_APUS));
        fields.tasks.addEventListener("input", () => whole(fields.tasks, "tasks", 2 ** 31));
        fields.decomposition.addEventListener("change", () => {
            change((state) => (state.decomposition = fields.decomposition.value));
            fields.tasks.disabled = fields.decomposition.value !== "task";
            // What no longer counts cannot be wrong.
            if (fields.tasks.disabled) fields.tasks.value = whatIf.state().tasks;
            refuseNot("tasks");
        });
        return element(
            "div",
            { class: "machine" },
            element("label", {}, "APUs ", fields.apus),
            complaint("apus"),
            element("label", {}, "decomposition ", fields.decomposition),
            element("label", {}, "independent tasks ", fields.tasks),
            complaint("tasks"),
        );
    }

    /** Sets all fields to the state. */
    function showState() {
        const state = whatIf.state();
        fields.apus.value = state.apus;
        fields.tasks.value = state.tasks;
        fields.decomposition.value = state.decomposition;
        fields.tasks.disabled = state.decomposition !== "task";
        for (const key of Object.keys(WHOLE)) refuseNot(key);
        for (const show of rows.values()) show(null);
    }

    const say = (sentences) =>
        message.replaceChildren(...sentences.map((line) => element("p", {}, line)));

    /** Shows what comes out, or, where a field holds no value, that nothing does. */
    function render() {
        const isWrong = wrong.size > 0;
        message.classList.toggle("withdrawn", isWrong);
        for (const node of [ranking, curves]) node.hidden = isWrong;
        if (isWrong) {
            const names = [...wrong.values()].join(", ");
            ranking.replaceChildren();
            say([`No answer: what was typed for ${names} is not valid. Correct it, or reset.`]);
            return;
        }
        const result = whatIf.compute();
        const sentences = result.isChanged
            ? [...result.outcomes.map(whatIf.sentence), whatIf.beyond(result)]
            : [`Nothing is changed: these are the ${objective.isTime ? "times" : "amounts"} as given.`];
        say(sentences.filter(Boolean));
        message.closest("section").classList.toggle("unchanged", !result.isChanged);
        ranking.replaceChildren(topTable(result));
        chart.redraw();
    }

    /** A mark behind what lies beyond the measured. */
    const beyondMark = (m, p) =>
        whatIf.isBeyond(m, p) ? element("span", { title: "beyond what was measured" }, " *") : null;

    const noRank = (m, p) => (m * p > given.apus ? "not feasible" : "not ranked");

    /** The first of the new ranking, with their places as given. */
    function topTable({ ranking: now }) {
        const places = new Map(base.m.map((m, k) => [`${m},${base.p[k]}`, k]));
        const first = (column) => column.slice(0, whatIf.SHOWN);
        const unit = objective.unitOf(first(now.product));
        const unitOfTimes = text.commonUnit(first(now.time_s));
        const cell = (value, { factor }, inWords) =>
            element("td", { title: inWords, "data-value": value }, text.digits(value / factor));
        const amount = (product) => {
            const value = objective.amount(product);
            const of = objective.isTime ? "s" : (objective.unit ?? "");
            return cell(value, unit, `${value} ${of}`.trim());
        };
        // What was measured stands beside what is made of it.
        const hasTimes = objective.hasTimes && !objective.isMeasured;
        const time = (seconds) =>
            hasTimes ? cell(seconds, unitOfTimes, `${seconds} s`) : null;
        const rows = first(now.m).map((m, k) => {
            const before = places.get(`${m},${now.p[k]}`);
            return element(
                "tr",
                {},
                element("td", {}, String(k + 1)),
                element("td", {}, text.pair(m, now.p[k]), beyondMark(m, now.p[k])),
                amount(now.product[k]),
                time(now.time_s[k]),
                now.refined_s ? amount(now.refined_product[k]) : null,
                element("td", {}, before === undefined ? noRank(m, now.p[k]) : text.count(before + 1)),
            );
        });
        const titles = [
            "rank",
            "(m, p)",
            objective.titled(
                objective.isTime ? whatIf.RANKED : `${objective.name}, ${whatIf.RANKED}`,
                unit,
            ),
            hasTimes && objective.titled("time", unitOfTimes),
            now.refined_s && objective.titled("refined", unit),
            "rank as given",
        ];
        return element(
            "table",
            { class: "data top" },
            element(
                "caption",
                {},
                study.hasRuns || !objective.isTime
                    ? `The first of ${text.count(now.m.length)} configurations, in the order of choice`
                    : `The fastest of ${text.count(now.m.length)} feasible configurations, in the order of ${whatIf.RANKED}`,
            ),
            element(
                "thead",
                {},
                element(
                    "tr",
                    {},
                    titles.filter(Boolean).map((title) => element("th", { scope: "col" }, title)),
                ),
            ),
            element("tbody", {}, rows),
        );
    }

    /** What is to be known before anything is changed. */
    function notes() {
        const more =
            "More APUs bring in what lies beyond the timed m and p, where it is taken to be as far off as at their border.";
        const ofRuns =
            "Each time is that of equation 11 with the changed terms, as far off as the runs have it now.";
        const ofRates = `Runs are ${objective.runs}: the terms are ${objective.terms}.`;
        const ofFactors = `${objective.name} is worked out for the configurations of this page alone, so no more than ${text.count(given.apus)} APUs can be asked about.`;
        return [
            study.hasRuns && (objective.isMeasured ? `${ofRuns} ${more}` : ofRuns),
            objective.terms && ofRates,
            !objective.isMeasured && ofFactors,
        ].filter(Boolean);
    }

    function create(parent) {
        const { found, refined } = whatIf.terms();
        const reset = element(
            "button",
            { type: "button", class: "reset" },
            "Reset to the values as given",
        );
        reset.addEventListener("click", () => {
            whatIf.reset();
            remember();
            showState();
            later();
        });
        const controls = element(
            "div",
            { class: "what-if-controls" },
            machineFields(),
            element("h3", {}, "Terms of equation 11"),
            found.map(termRow),
        );
        if (refined.length) {
            controls.append(
                element(
                    "details",
                    { open: false },
                    element("summary", {}, "Terms of the refined model"),
                    refined.map(termRow),
                ),
            );
        }
        controls.append(reset);
        const results = element("div", { class: "what-if-results" }, message, ranking, curves);
        for (const note of notes()) parent.append(element("p", { class: "note" }, note));
        parent.append(element("div", { class: "what-if" }, controls, results));
        whatIf.set(whatIf.fromHash(location.hash) ?? whatIf.state());
        whatIf.compute();
        chart = whatIfPlot.create(curves);
        showState();
        render();
        window.addEventListener("hashchange", () => {
            const state = whatIf.fromHash(location.hash);
            if (!state) return;
            whatIf.set(state);
            showState();
            render();
        });
    }

    return { create };
})();
