// What if: other terms, another number of APUs, another decomposition. Recomputes both models over
// all feasible (m, p) in the page, by the equations that were held to the library's.
const whatIf = (() => {
    const { element } = text;
    const { NAMES } = tablesOfParameters;
    const given = study.model;
    /** What is ranked: equation 11, as far off as the runs have it where there are any. */
    const RANKED = study.hasRuns ? "equation 11 and its misfit" : "equation 11";
    /** The limits of what was measured, as {m: [least, most], p: [least, most]}; null if unknown. */
    const { measured = null } = study.data;
    const { time_s, believed_s, ranked_by_s } = study.configurations;

    /** A number with the four digits that are printed of it. */
    const printed = (time) => Number(time.toPrecision(4));

    /** By the fewest m·p, then the fewest m. */
    const byCores = (a, b) => a.m * a.p - b.m * b.p || a.m - b.m;

    /** What a key may be above another where the times are printed the same, as a factor. */
    const HARDLY_MORE = Math.exp(0.01);

    const base = rank(given);
    /** What another objective makes of a time is known of this page's configurations alone. */
    const MOST_APUS = objective.isMeasured ? Math.max(4096, given.apus) : given.apus;
    const SHOWN = 10;

    /** The place of a configuration, or of the one of this page that is nearest in log m and log p. */
    function nearest(m, p) {
        const place = study.places.get(`${m},${p}`);
        if (place !== undefined) return place;
        const { m: ms, p: ps } = study.configurations;
        const distance = (k) => Math.hypot(Math.log(ms[k] / m), Math.log(ps[k] / p));
        return study.indices.reduce((best, k) => (distance(k) < distance(best) ? k : best));
    }

    /** By what factor a column differs from equation 11; where the page has none, as at the nearest. */
    function factor(column, m, p) {
        if (!study.hasRuns) return 1;
        const k = nearest(m, p);
        const ratio = column[k] / time_s[k];
        return Number.isFinite(ratio) && ratio > 0 ? ratio : 1;
    }

    /**
     * Every configuration in question with its times and products, in the order of choice: with runs, and
     * where the objective has factors, those of this page, unless more APUs are asked for than are given.
     */
    function rank(model) {
        const all = equations.rank(model);
        const isOfPage = study.hasRuns || !objective.isMeasured;
        const isShown = ({ m, p }) =>
            !isOfPage || model.apus > given.apus || study.places.has(`${m},${p}`);
        // With runs, what the page ranks by has the factor of its configuration in it.
        const ofKey = (m, p) => (study.hasRuns ? 1 : objective.factor(m, p));
        const rows = all.m
            .map((m, k) => ({ k, m, p: all.p[k], time: all.time_s[k] }))
            .filter(isShown)
            .map(({ k, m, p, time }) => ({
                ...{ k, m, p },
                time: time * factor(believed_s, m, p),
                product: time * factor(believed_s, m, p) * objective.factor(m, p),
                key: time * factor(ranked_by_s, m, p) * ofKey(m, p),
            }));
        const ranked = inOrderOfChoice(rows);
        const refined_s = all.refined_s && ranked.map(({ k }) => all.refined_s[k]);
        return {
            m: ranked.map(({ m }) => m),
            p: ranked.map(({ p }) => p),
            time_s: ranked.map(({ time }) => time),
            product: ranked.map(({ product }) => product),
            refined_s,
            refined_product:
                refined_s && ranked.map(({ m, p }, k) => refined_s[k] * objective.factor(m, p)),
        };
    }

    /**
     * Rows by their keys, as the library orders them (belief/mixture.rs): what cannot be told from the
     * first that is left comes with it, the fewest cores first.
     */
    function inOrderOfChoice(rows) {
        const sorted = rows.sort((a, b) => a.key - b.key || a.m - b.m || a.p - b.p);
        const alike = new Map(sorted.map(({ product }) => [printed(product), []]));
        for (const row of sorted) alike.get(printed(row.product)).push(row);
        const isTaken = new Set();
        return sorted.flatMap((first) => {
            if (isTaken.has(first)) return [];
            const left = alike.get(printed(first.product)).filter((row) => !isTaken.has(row));
            const tied = left.filter(({ key }) => key <= first.key * HARDLY_MORE);
            for (const row of tied) isTaken.add(row);
            return tied.sort(byCores);
        });
    }

    const timeOf = (model, m, p) => equations.time(model, m, p) * factor(believed_s, m, p);

    /** Where a term lies in the plain parameters: [holder, key, is a whole number]. */
    function place(model, term) {
        if (term in model.terms) return [model.terms, term];
        if (["iterations", "hardware_contexts"].includes(term)) return [model.refined, term, true];
        if (term === "demand") return [model.refined.memory, "demand_bytes_per_s"];
        if (term === "bandwidth") return [model.refined.memory, "bandwidth_bytes_per_s"];
        if (term === "memories") return [model.refined.memory, term, true];
        return [model.refined, term];
    }

    const { table } = study.data.parameters;
    const isOverM = (term) => table.some(({ name, over_m }) => over_m && name === term);

    /** The terms that can be changed: those of equation 11, and the refined ones that are on. */
    function terms() {
        const { refined } = given;
        const found = table.map(({ name }) => name).filter((name) => given.terms[name] !== null);
        const ofRefined = [
            "iterations",
            "hardware_contexts",
            "exposed_transfer_s",
            "work_growth_s",
        ];
        const on = refined ? ofRefined.filter((term) => refined[term] !== null) : [];
        if (refined?.memory) on.push("demand", "bandwidth", "memories");
        return { found, refined: on };
    }

    const fresh = () => ({
        apus: given.apus,
        decomposition: given.decomposition,
        tasks: given.tasks ?? 16,
        changes: {},
    });
    let state = fresh();

    /** The parameters with all changes of a state made. */
    function changed({ apus, decomposition, tasks, changes }) {
        const model = structuredClone(given);
        Object.assign(model, { apus, decomposition, tasks });
        for (const [term, { factor, value }] of Object.entries(changes)) {
            const [holder, key, isWhole] = place(model, term);
            if (isOverM(term)) holder[key] = scaled(holder[key], factor, term === "alpha");
            else if (value !== undefined)
                holder[key] = isWhole ? Math.max(Math.round(value), 1) : value;
            else holder[key] *= factor;
        }
        return model;
    }

    /** A term over m times a factor; of alpha it is the excess over 1 that is multiplied. */
    function scaled(overM, factor, isAlpha) {
        const times = (value) => (isAlpha ? 1 + factor * (value - 1) : value * factor);
        if (overM.constant !== undefined) return { constant: times(overM.constant) };
        return { m: overM.m, values: overM.values.map(times) };
    }

    const isChanged = () =>
        Object.keys(state.changes).length > 0 ||
        state.apus !== given.apus ||
        state.decomposition !== given.decomposition ||
        (state.decomposition === "task" && state.tasks !== given.tasks);

    /** The state as a part of an address: what-if&apus=32&t_apu_s=x4&g_s=1e-7. */
    function toHash() {
        if (!isChanged()) return "";
        const parts = ["what-if"];
        if (state.apus !== given.apus) parts.push(`apus=${state.apus}`);
        if (state.decomposition !== given.decomposition)
            parts.push(`decomposition=${state.decomposition}`);
        if (state.decomposition === "task" && state.tasks !== given.tasks)
            parts.push(`tasks=${state.tasks}`);
        for (const [term, { factor, value }] of Object.entries(state.changes)) {
            parts.push(`${term}=${value === undefined ? `x${factor}` : value}`);
        }
        return `#${parts.join("&")}`;
    }

    /** The state of an address; what it says wrongly is left as given. */
    function fromHash(hash) {
        const [name, ...parts] = hash.replace(/^#/, "").split("&");
        if (name !== "what-if") return null;
        const read = fresh();
        const all = [...terms().found, ...terms().refined];
        for (const part of parts) {
            const [key, written = ""] = part.split("=");
            const isFactor = written.startsWith("x");
            const number =
                written.length > (isFactor ? 1 : 0) ? Number(written.slice(isFactor ? 1 : 0)) : NaN;
            const isWhole = Number.isInteger(number) && number >= 1;
            if (key === "apus" && isWhole && number <= MOST_APUS) read.apus = number;
            if (key === "tasks" && isWhole) read.tasks = number;
            if (key === "decomposition" && ["data", "task"].includes(written))
                read.decomposition = written;
            if (all.includes(key) && isAllowed(key, number, isFactor)) {
                read.changes[key] = isFactor ? { factor: number } : { value: number };
            }
        }
        return read;
    }

    /** Whether a configuration lies beyond what was measured, as far as that is known. */
    function isBeyond(m, p) {
        const isOutside = (count, [least, most]) => count < least || count > most;
        return Boolean(measured) && (isOutside(m, measured.m) || isOutside(p, measured.p));
    }

    /** A sentence on the configurations beyond what was measured; null where there are none. */
    function beyond({ ranking, outcomes }) {
        const count = ranking.m.filter((m, k) => isBeyond(m, ranking.p[k])).length;
        if (count === 0) return null;
        const range = ([least, most]) => `${text.count(least)} to ${text.count(most)}`;
        const best = outcomes
            .map((each) => each.best)
            .filter(({ m, p }) => isBeyond(m, p))
            .map(({ m, p }) => text.pair(m, p));
        const all = [...new Set(best)].join(" and ");
        const first = all && `${all} ${best.length > 1 && all.includes("and") ? "lie" : "lies"} beyond what was measured: this answer is extrapolated. `;
        return `${first}Of ${text.count(ranking.m.length)} feasible configurations ${text.count(count)} lie outside the measured m = ${range(measured.m)} and p = ${range(measured.p)}; they are marked *.`;
    }

    /** What is wrong with what was typed for a term, for the one who typed it. */
    function advice(term, isFactor) {
        const [, , isWhole] = place(given, term);
        if (isWhole) return "A whole number of at least 1 is needed.";
        if (term === "bandwidth") return "A number above 0 is needed.";
        const isAlpha = term === "alpha" && isFactor;
        return isAlpha
            ? "A number of at least 0 is needed, under which α stays above 0."
            : "A number of at least 0 is needed.";
    }

    /** Whether a term may have that factor or value. */
    function isAllowed(term, number, isFactor) {
        if (!Number.isFinite(number) || number < 0 || (isOverM(term) && !isFactor)) return false;
        const [holder, key, isWhole] = place(given, term);
        if (isWhole) return !isFactor && Number.isInteger(number) && number >= 1;
        if (term === "bandwidth") return number > 0;
        if (term !== "alpha") return true;
        const { constant, values = [constant] } = scaled(holder[key], number, true);
        return values.every((value) => value > 0);
    }

    /** The place of the choice in a ranking: the first or, within a tolerance of it, the fewest cores. */
    function chosen({ m, p, product }) {
        const most = product[0] * (1 + (objective.tolerance ?? 0));
        const isNear = (k) => k === 0 || (objective.tolerance !== null && product[k] <= most);
        return cheapest(m, p, isNear);
    }

    /** The place of the best by the refined model, of equal ones the fewest cores; null where there is none. */
    function leastRefined({ m, p, refined_product: products }) {
        if (!products) return null;
        const least = printed(products.reduce((one, other) => Math.min(one, other)));
        return cheapest(m, p, (k) => printed(products[k]) === least);
    }

    /** Of the places at which something holds, the one with the fewest cores. */
    function cheapest(m, p, holds) {
        const places = m.map((each, k) => ({ k, m: each, p: p[k] })).filter(({ k }) => holds(k));
        return places.sort(byCores)[0].k;
    }

    /** What comes out for each model: best as given, best now, and the old choice now. */
    function outcomes(model, ranking) {
        const of = [
            { name: RANKED, key: "product", before: chosen(base), now: chosen(ranking), time: timeOf },
        ];
        if (ranking.refined_s && base.refined_s) {
            of.push({
                name: "refined model",
                key: "refined_product",
                before: leastRefined(base),
                now: leastRefined(ranking),
                time: equations.refinedTime,
            });
        }
        return of.map(({ name, key, before, now, time }) => {
            const old = { m: base.m[before], p: base.p[before], product: base[key][before] };
            const best = { m: ranking.m[now], p: ranking.p[now], product: ranking[key][now] };
            const isFeasible = old.m * old.p <= model.apus;
            const keeping = isFeasible
                ? time(model, old.m, old.p) * objective.factor(old.m, old.p)
                : null;
            return { name, old, best, keeping };
        });
    }

    /** A sentence for people and screen readers. */
    function sentence({ name, old, best, keeping }) {
        const { amount, shown, isTime } = objective;
        const pair = text.pair(best.m, best.p);
        const ratio = text.digits(amount(best.product) / amount(old.product));
        // Given runs, what is known better goes before what may be faster; so do fewer cores.
        const isFirst = name === RANKED && (study.hasRuns || objective.tolerance !== null);
        const most = objective.isMeasured ? "the fastest" : "the best";
        const times = isTime ? "times as long as" : `times the ${objective.name} of`;
        const start = `By ${name === RANKED ? name : `the ${name}`} ${pair} is now ${isFirst ? "the choice" : most}, ${shown(best.product)}: ${ratio} ${times} ${text.pair(old.m, old.p)} as given, ${shown(old.product)}.`;
        if (best.m === old.m && best.p === old.p) return `${start} The choice stays the same.`;
        if (keeping === null) return `${start} The choice as given needs more APUs than there are.`;
        const lost = amount(keeping) / amount(best.product) - 1;
        const isBetter = keeping < best.product;
        const than = objective.tolerance === null ? "that is less sure" : "with more cores";
        const howMuch = `${text.percent(Math.abs(lost))} ${lost < 0 ? "less" : "more"}${isBetter ? `, but ${than}` : ""}`;
        const make = isTime ? "take" : "make it";
        return `${start} Keeping ${text.pair(old.m, old.p)} would ${make} ${shown(keeping)}, ${howMuch}.`;
    }

    let result = null;

    /** Recomputes, and tells whoever shows it. */
    function compute() {
        const model = changed(state);
        const ranking = rank(model);
        result = { model, ranking, outcomes: outcomes(model, ranking), isChanged: isChanged() };
        return result;
    }

    return {
        given,
        base,
        RANKED,
        terms,
        place,
        isOverM,
        isAllowed,
        isBeyond,
        beyond,
        advice,
        changed,
        compute,
        sentence,
        toHash,
        fromHash,
        NAMES,
        SHOWN,
        MOST_APUS,
        leastRefined,
        state: () => state,
        set: (next) => (state = next),
        reset: () => (state = fresh()),
        result: () => result,
    };
})();
