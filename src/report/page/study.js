// The data of the page, what is derived of them, and which configuration is selected.
const study = (() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const { configurations } = data;
    const { m, p, time_s, low_s, high_s, refined_s, measured_s, split } = configurations;
    const { believed_s = null, repetitions = null } = configurations;
    const model = equations.plain(data.parameters);
    const isData = model.decomposition === "data";
    const size = m.length;
    const indices = Array.from({ length: size }, (_, k) => k);
    const places = new Map(indices.map((k) => [`${m[k]},${p[k]}`, k]));
    const hasMeasured = Boolean(measured_s) && measured_s.some((time) => time !== null);
    const hasIntervals = indices.some((k) => low_s[k] < high_s[k]);
    const hasRuns = Boolean(believed_s);
    /** The times that the configurations are ranked by. */
    const ranked_s = believed_s ?? time_s;
    const unit = text.commonUnit(ranked_s);

    /** By how much a model is off at a configuration [percent]; null where nothing was measured. */
    const errorOf = (times, k) =>
        hasMeasured && measured_s[k] !== null
            ? (100 * (times[k] - measured_s[k])) / measured_s[k]
            : null;

    /** The terms of both models and the parts of a measured run, in the order of their sums. */
    const TERMS = {
        hpu_s: ["α·T_HPU", "host code", "host"],
        apu_s: [isData ? "T_APU/(m·p)" : "T_APU/p", "APU time that is shared", "apu"],
        apu_serial_s: ["C_APU", "APU time that is not shared", "serial"],
        offload_s: ["N·O_offload", "signals, arguments, results", "offload"],
        context_switch_s: ["N·T_CSW", "context switches", "switch"],
        collective_s: [
            data.parameters.terms.collectives ? "K·O_COL" : "N·O_COL",
            "collectives",
            "collective",
        ],
        gap_s: ["N·p·g", "starting APUs one by one", "gap"],
        uneven_division_s: ["uneven division", "the slowest APU's further iterations", "uneven"],
        memory_contention_s: ["memory contention", "APUs waiting for memory", "memory"],
        exposed_transfer_s: ["exposed transfer", "first and last data of off-loads", "exposed"],
        work_growth_s: ["work growth", "work that grows with p", "growth"],
        host_queueing_s: ["host queueing", "waiting for a hardware thread", "queueing"],
    };
    const PARTS = {
        host_s: ["host", "code, collectives, waiting for a hardware thread", "host"],
        start_s: ["start", "starting APUs and collecting them", "gap"],
        apu_shared_s: ["APU, shared", "in loops that several APUs share", "apu"],
        apu_serial_s: ["APU, not shared", "in everything else", "serial"],
        wait_s: ["wait", "signals on their way, waiting for the slowest", "offload"],
        idle_s: ["idle", "before the first and after the last host code", "idle"],
    };

    const equation11 = (k) => equations.breakdown(model, m[k], p[k]);
    const refined = (k) => (refined_s ? equations.refinedBreakdown(model, m[k], p[k]) : null);

    /** Where a measured run went, as {part: time}; null where that is not known. */
    function splitOf(k) {
        if (!split || split.host_s[k] === null) return null;
        return Object.fromEntries(Object.keys(PARTS).map((part) => [part, split[part][k]]));
    }

    /** The time that is ranked, with its interval. */
    function withInterval(k) {
        const time = ranked_s[k];
        if (!(low_s[k] < high_s[k])) return text.seconds(time);
        const written = text.interval(time, [low_s[k], high_s[k]], text.seconds);
        return `${text.seconds(time)} ${written.startsWith("±") ? written : `(${written})`}`;
    }

    /** What was measured, and how often where that is known. */
    function measuredTime(k) {
        const count = repetitions?.[k] ?? null;
        const runs = count === null ? "" : ` (${text.count(count)} ${count === 1 ? "run" : "runs"})`;
        return `${text.seconds(measured_s[k])}${runs}`;
    }

    /** What is known of a configuration, in a few lines. */
    function describe(k) {
        const lines = [`${text.pair(m[k], p[k])}, rank ${text.count(k + 1)}`];
        const off = (times) => {
            const error = errorOf(times, k);
            return error === null ? "" : `, ${text.deviation(error)}`;
        };
        if (hasRuns) lines.push(`given the runs: ${withInterval(k)}`);
        const own = hasRuns ? text.seconds(time_s[k]) : withInterval(k);
        lines.push(`equation 11: ${own}${off(time_s)}`);
        if (refined_s) lines.push(`refined model: ${text.seconds(refined_s[k])}${off(refined_s)}`);
        if (hasMeasured && measured_s[k] !== null) {
            lines.push(`measured: ${measuredTime(k)}`);
        }
        return lines;
    }

    const listeners = [];
    let selected = 0;

    /** Selects a configuration everywhere. */
    function select(k) {
        selected = k;
        for (const listener of listeners) listener(k);
    }

    return {
        data,
        configurations,
        model,
        size,
        indices,
        places,
        unit,
        ranked_s,
        TERMS,
        PARTS,
        hasMeasured,
        hasRuns,
        hasIntervals,
        isData,
        errorOf,
        equation11,
        refined,
        splitOf,
        withInterval,
        measuredTime,
        describe,
        select,
        selected: () => selected,
        onSelect: (listener) => listeners.push(listener),
    };
})();
