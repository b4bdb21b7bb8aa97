// Equation 11 and the refined model, as src/model/run.rs, src/model/refined.rs and
// src/model/refined/host.rs have them. Every sum adds in the same order as there, so that the two
// differ by rounding of the last digit at most; the page compares them whenever it is opened.
const equations = (() => {
    /** The number of an estimate, or what is taken where there is none. */
    const value = (estimate, otherwise) => (estimate ? estimate.value : otherwise);

    /** A term over m as numbers: {constant} or {m, values}. */
    function numbers({ m, value }) {
        return m ? { m: m.slice(), values: value.slice() } : { constant: value };
    }

    /** The parameters as plain numbers, which the what-if panel may change. */
    function plain(parameters) {
        const { terms, refined, table } = parameters;
        const plainTerms = {};
        for (const { name, over_m } of table) {
            plainTerms[name] = over_m ? numbers(terms[name]) : value(terms[name], null);
        }
        return {
            decomposition: parameters.decomposition.kind,
            tasks: parameters.decomposition.tasks ?? null,
            apus: parameters.apus,
            terms: plainTerms,
            refined: refined && {
                iterations: refined.iterations ?? null,
                hardware_contexts: refined.hardware_contexts ?? null,
                exposed_transfer_s: value(refined.exposed_transfer_s, null),
                memory: refined.memory_of
                    ? {
                          demand_bytes_per_s: refined.memory_demand_bytes_per_s.value,
                          bandwidth_bytes_per_s: refined.memory_bandwidth_bytes_per_s.value,
                          memories: refined.memories,
                          placement: refined.memory_of,
                      }
                    : null,
                work_growth_s: value(refined.work_growth_s, null),
            },
        };
    }

    /** The value at m: interpolated linearly in a table, and held constant beyond its last m. */
    function at(overM, m, atOne) {
        if (overM.constant !== undefined) return overM.constant;
        const after = overM.m.findIndex((known) => known >= m);
        if (after < 0) return overM.values[overM.values.length - 1];
        const high = overM.values[after];
        if (overM.m[after] === m) return high;
        const lowM = after > 0 ? overM.m[after - 1] : 1;
        const low = after > 0 ? overM.values[after - 1] : atOne;
        return low + (high - low) * ((m - lowM) / (overM.m[after] - lowM));
    }

    /** alpha_m; 1 at m = 1 whatever the table says. */
    const alphaAt = (terms, m) => (m === 1 ? 1 : at(terms.alpha, m, 1));

    /** What falls to the slowest of m threads: a fraction of the totals, in so many pieces. */
    function share(model, m, p) {
        if (model.decomposition === "data") return { fraction: 1, pieces: m * p };
        return { fraction: Math.ceil(model.tasks / m) / model.tasks, pieces: p };
    }

    /**
     * The terms of equation 11 at (m, p) [s], in the order in which they add up:
     * f*( alpha_m*T_HPU + T_APU/q + C_APU + N*(O_offload + T_CSW + O_COL + p*g) ).
     */
    function breakdown(model, m, p) {
        const { terms } = model;
        const { fraction, pieces } = share(model, m, p);
        const offloads = fraction * terms.offloads;
        const collectives = fraction * (terms.collectives ?? terms.offloads);
        return {
            hpu_s: fraction * alphaAt(terms, m) * terms.t_hpu_s,
            apu_s: (fraction * terms.t_apu_s) / pieces,
            apu_serial_s: fraction * terms.c_apu_s,
            offload_s: offloads * terms.o_offload_s,
            context_switch_s: offloads * terms.t_csw_s,
            collective_s: collectives * at(terms.o_col_s, m, 0),
            gap_s: offloads * p * terms.g_s,
        };
    }

    /** Equation 11 at a fixed m, as a function of p: constant + shared/p + growing*p. */
    function row(model, m) {
        const one = breakdown(model, m, 1);
        const constant =
            one.hpu_s + one.apu_serial_s + one.offload_s + one.context_switch_s + one.collective_s;
        return (p) => constant + one.apu_s / p + one.gap_s * p;
    }

    /** The time of equation 11 [s]. */
    const time = (model, m, p) => row(model, m)(p);

    /** The sum of all parts, in the order in which they were made. */
    const total = (parts) => Object.values(parts).reduce((sum, part) => sum + part);

    /** APUs that stream from the memory that has to serve the most. */
    function together(memory, m, p) {
        if (!memory) return p;
        if (memory.placement === "process") return Math.ceil(m / memory.memories) * p;
        return Math.ceil((m * p) / memory.memories);
    }

    const hasRefinements = ({ refined }) =>
        Boolean(refined) && Object.values(refined).some((term) => term !== null);

    /** The terms of the refined model at (m, p) [s], in the order in which they add up. */
    function refinedBreakdown(model, m, p) {
        const refined = model.refined ?? {};
        const terms = breakdown(model, m, p);
        const { fraction, pieces } = share(model, m, p);
        const streams = together(refined.memory, m, p);
        const iterations = refined.iterations ?? null;
        const uneven =
            iterations === null
                ? terms.apu_s
                : terms.apu_s * ((Math.ceil(iterations / pieces) * pieces) / iterations);
        let delivered = 0;
        if (refined.memory) {
            const asked = streams * refined.memory.demand_bytes_per_s;
            delivered = terms.apu_s * (asked / refined.memory.bandwidth_bytes_per_s);
        }
        const exposed = Math.max((refined.exposed_transfer_s ?? 0) - model.terms.g_s, 0);
        const parts = {
            ...terms,
            uneven_division_s: uneven - terms.apu_s,
            memory_contention_s: Math.max(delivered - uneven, 0),
            exposed_transfer_s: fraction * model.terms.offloads * exposed * (streams - 1),
            work_growth_s: fraction * (refined.work_growth_s ?? 0) * (p - 1),
            host_queueing_s: 0,
        };
        const contexts = refined.hardware_contexts ?? null;
        return contexts === null ? parts : withContexts(model, parts, m, contexts);
    }

    /** The host's part replaced by what the closed queueing network of threads says. */
    function withContexts(model, parts, m, contexts) {
        const { fraction } = share(model, m, 1);
        const think =
            parts.apu_s +
            parts.uneven_division_s +
            parts.memory_contention_s +
            parts.exposed_transfer_s +
            parts.work_growth_s +
            parts.apu_serial_s +
            parts.offload_s +
            parts.collective_s;
        const switches = m > contexts ? parts.context_switch_s : 0;
        const alone = fraction * model.terms.t_hpu_s;
        const steady = switches + parts.gap_s;
        const changed = { ...parts, context_switch_s: switches, hpu_s: 0 };
        if (alone + steady > 0) {
            const bursts = [0];
            for (let busy = 1; busy <= Math.min(m, contexts); busy += 1) {
                bursts.push(alphaAt(model.terms, busy) * alone + steady);
            }
            const { computing, waiting } = visit(m, contexts, think, bursts);
            changed.hpu_s = Math.max(computing - steady, 0);
            changed.host_queueing_s = waiting;
        }
        return changed;
    }

    /** Weights beyond this are scaled down, with all sums before them. */
    const LARGE = 1e200;

    /** How long one of m threads computes and waits at the host, for each visit [s]. */
    function visit(m, contexts, think, bursts) {
        let [weights, rate, computing, waiting, weight] = [0, 0, 0, 0, 1];
        for (let n = m; n >= 1; n -= 1) {
            const busy = Math.min(n, contexts);
            const rateHere = busy / bursts[busy];
            weights += weight;
            rate += weight * rateHere;
            computing += weight * busy;
            waiting += weight * (n - busy);
            weight *= (think * rateHere) / (m - n + 1);
            if (weight > LARGE) {
                [weights, rate, computing, waiting, weight] = [
                    weights,
                    rate,
                    computing,
                    waiting,
                    weight,
                ].map((sum) => sum / LARGE);
            }
        }
        return { computing: computing / rate, waiting: waiting / rate };
    }

    /** The time of the refined model [s]; without refined terms, that of equation 11. */
    const refinedTime = (model, m, p) =>
        hasRefinements(model) ? total(refinedBreakdown(model, m, p)) : time(model, m, p);

    /**
     * Every feasible (m, p) with its times, in the order of equation 11: ties by m, then p. Columns
     * of equal length; refined_s is null where there are no refined terms.
     */
    function rank(model) {
        const found = [];
        const isRefined = hasRefinements(model);
        for (let m = 1; m <= model.apus; m += 1) {
            const at_p = row(model, m);
            for (let p = 1; m * p <= model.apus; p += 1) {
                const refined = isRefined ? total(refinedBreakdown(model, m, p)) : null;
                found.push([m, p, at_p(p), refined]);
            }
        }
        found.sort((a, b) => a[2] - b[2] || a[0] - b[0] || a[1] - b[1]);
        const column = (index) => found.map((each) => each[index]);
        return {
            m: column(0),
            p: column(1),
            time_s: column(2),
            refined_s: isRefined ? column(3) : null,
        };
    }

    /** The largest relative difference between the page's times and the library's. */
    function largestDifference(parameters, configurations) {
        const model = plain(parameters);
        const { m, p, time_s, refined_s } = configurations;
        const differences = { time_s: 0, refined_s: refined_s ? 0 : null };
        const relative = (found, known) =>
            found === known ? 0 : Math.abs(found - known) / Math.abs(known);
        // A comparison that fails on NaN as well.
        const worse = (most, next) => (next <= most ? most : next);
        for (let k = 0; k < m.length; k += 1) {
            const own = relative(time(model, m[k], p[k]), time_s[k]);
            differences.time_s = worse(differences.time_s, own);
            if (refined_s) {
                const refined = relative(refinedTime(model, m[k], p[k]), refined_s[k]);
                differences.refined_s = worse(differences.refined_s, refined);
            }
        }
        return differences;
    }

    /** What counts as equal: the two evaluate the same sums in the same order. */
    const TOLERANCE = 1e-12;

    return {
        TOLERANCE,
        plain,
        at,
        alphaAt,
        breakdown,
        total,
        time,
        row,
        rank,
        hasRefinements,
        refinedBreakdown,
        refinedTime,
        largestDifference,
    };
})();
