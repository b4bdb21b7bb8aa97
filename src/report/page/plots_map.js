// The heat map of a quantity over the feasible region of (m, p).
const plotOfMap = (() => {
    const { element, svg } = text;
    const { configurations, models, predictions, indices } = study;
    const { m, p, measured_s, indistinguishable } = configurations;

    // From fast to slow, light to dark, by viridis (Smith and van der Walt 2015, CC0); and from too
    // fast by way of right to too slow. Both keep their order in lightness for every kind of sight.
    const TIMES = "#fde725 #addc30 #5ec962 #28ae80 #21918c #2c728e #3b528b #472d7b #440154".split(" ");
    const ERRORS = ["#0b4f82", "#5fa3cf", "#f4f1ea", "#e79a62", "#a64300"];
    const LEVELS = 48;

    /** The colour at a share of the way along some stops. */
    function colour(stops, share) {
        const along = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
        const first = Math.min(Math.floor(along), stops.length - 2);
        const channel = (hex, k) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
        const mixed = [0, 1, 2].map((k) => {
            const [low, high] = [channel(stops[first], k), channel(stops[first + 1], k)];
            return Math.round(low + (high - low) * (along - first))
                .toString(16)
                .padStart(2, "0");
        });
        return `#${mixed.join("")}`;
    }

    /** A name after "time" or "error". */
    const NAMES = {
        "given the runs": "given the runs",
        "equation 11": "by equation 11",
        "refined model": "by the refined model",
    };

    /** What the map can show: {label: {values, isTime}}. */
    function quantities() {
        const found = {};
        for (const { name, times } of predictions) {
            found[`time ${NAMES[name]}`] = { values: times, isTime: true };
        }
        if (study.hasMeasured) {
            found["measured time"] = { values: measured_s, isTime: true };
            for (const { name, times } of models) {
                const values = indices.map((k) => study.errorOf(times, k));
                found[`error ${NAMES[name].replace("by", "of")}`] = { values, isTime: false };
            }
        }
        return found;
    }

    /** From a quantity to a share of its colours, with the ends of the key. */
    function shades({ values, isTime }) {
        const known = values.filter((value) => value !== null && (!isTime || value > 0));
        if (isTime) {
            const [low, high] = axes.extent(known);
            const along = axes.scale("log", [low, Math.max(high, low * 1.0001)], [0, 1]);
            const unit = text.commonUnit(known);
            return { along, stops: TIMES, label: `time [${unit.name}]`, factor: unit.factor };
        }
        const most = Math.max(...axes.extent(known).map(Math.abs), 1);
        const along = axes.scale("linear", [-most, most], [0, 1]);
        return { along, stops: ERRORS, label: "error [%]", factor: 1 };
    }

    /** Room above what was timed for the key to the colours: there every corner may be taken. */
    const ABOVE = study.hasRuns ? 56 : 0;

    /** The scales of both axes: numbers as they are, or their logarithms where there are many. */
    function scales(width, height) {
        const most = Math.max(...axes.extent(m), ...axes.extent(p));
        const area = { top: 8 + ABOVE, bottom: height - 42, left: 48, right: width - 10 };
        const scale = (values, range) => {
            const [first, last] = study.hasRuns ? axes.extent(values) : [1, most];
            return axes.scale(last > 32 ? "log" : "linear", [first - 0.5, last + 0.5], range);
        };
        return {
            area,
            last: indices.reduce((last, k) => Math.max(last, m[k] * p[k]), 1),
            x: scale(p, [area.left, area.right]),
            y: scale(m, [area.bottom, area.top]),
        };
    }

    /**
     * The cell of a configuration, half a step to each side, one pixel at least; its borders are
     * those of pixels, so that nothing shows between it and its neighbours.
     */
    function cell(k, x, y) {
        const [left, right] = [x.at(p[k] - 0.5), x.at(p[k] + 0.5)].map(Math.round);
        const [top, bottom] = [y.at(m[k] + 0.5), y.at(m[k] - 0.5)].map(Math.round);
        return {
            x: left,
            y: top,
            width: Math.max(right - left, 1),
            height: Math.max(bottom - top, 1),
        };
    }

    /** A rectangle as a piece of a path. */
    function box({ x, y, width, height }) {
        return `M${x},${y}h${width}v${height}h-${width}z`;
    }

    /** All cells as one path for each level of colour. */
    function cells(values, { along, stops }, x, y) {
        const paths = Array.from({ length: LEVELS }, () => []);
        for (const k of indices) {
            if (values[k] === null) continue;
            const level = Math.round(Math.min(Math.max(along.at(values[k]), 0), 1) * (LEVELS - 1));
            paths[level].push(box(cell(k, x, y)));
        }
        return paths.flatMap((boxes, level) =>
            boxes.length
                ? [
                      svg("path", {
                          class: "cells",
                          fill: colour(stops, level / (LEVELS - 1)),
                          d: boxes.join(""),
                      }),
                  ]
                : [],
        );
    }

    /** The value of each cell, where there is room for it. */
    function figures({ values, isTime }, { along, factor }, x, y) {
        const group = svg("g", { class: "figures" });
        for (const k of indices) {
            if (values[k] === null) continue;
            const written = isTime
                ? text.digits(values[k] / factor, 3)
                : text.minus(values[k].toFixed(1));
            const level = along.at(values[k]);
            const isDark = isTime ? level > 0.6 : level < 0.2 || level > 0.85;
            const place = { x: x.at(p[k]), y: y.at(m[k]) + 3.5, "text-anchor": "middle" };
            group.append(svg("text", { class: isDark ? "on-dark" : null, ...place }, written));
        }
        return group;
    }

    /** Lines on which as many APUs are in use, down from all of them by halves. */
    function isoLines(layer, { x, y, last }) {
        let d = "";
        const labels = svg("g", { class: "iso-labels" });
        const isIn = ({ domain: [low, high] }, value) => low < value && value < high;
        for (let product = last; product >= 2; product /= 2) {
            if (!Number.isInteger(product)) break;
            const steps = 60;
            const along = Array.from({ length: steps + 1 }, (_, step) => product ** (step / steps));
            const shown = along.filter((at) => isIn(x, at) && isIn(y, product / at));
            shown.forEach((at, step) => {
                d += `${step ? "L" : "M"}${x.at(at).toFixed(1)},${y.at(product / at).toFixed(1)}`;
            });
            const middle = study.hasRuns ? shown[shown.length >> 1] : Math.sqrt(product);
            const [left, top] = [x.at(middle + 0.5) + 6, y.at(product / middle + 0.5) - 4];
            const hasRoom = shown.length > 5 && left < x.at(x.domain[1]) - 60;
            if (product === last && hasRoom)
                labels.append(svg("text", { x: left, y: top }, `m·p = ${text.count(product)}`));
        }
        layer.append(
            svg("path", { class: "iso-under", d }),
            svg("path", { class: "iso", d }),
            labels,
        );
    }

    /** The key to the colours, in the corner that no feasible configuration reaches. */
    function key(layer, { along, stops, label, factor }, { right, top, left }) {
        const wide = Math.min(190, (right - left) * 0.46);
        const from = right - wide;
        const group = svg("g", { class: "key" });
        for (let level = 0; level < LEVELS; level += 1) {
            const x = from + (level / LEVELS) * wide;
            const fill = colour(stops, level / (LEVELS - 1));
            group.append(
                svg("rect", { x, y: top + 18, width: wide / LEVELS + 0.6, height: 10, fill }),
            );
        }
        const across = axes.scale(along.kind, along.domain, [from, right]);
        const room = (content) => axes.wide(content.length) + 8;
        for (const tick of axes.ticks(across, { room, factor })) {
            group.append(
                svg("text", { x: tick.at, y: top + 42, "text-anchor": "middle" }, tick.label),
            );
        }
        group.append(svg("text", { x: from, y: top + 12 }, label));
        layer.append(group);
    }

    const MOST_RINGS = 60;
    // Marks on all cells would tell nothing.
    const isPartlyMeasured = study.hasMeasured && indices.some((k) => measured_s[k] === null);
    const FAMILY = `cannot be told from the best${study.hasRuns ? "" : " of equation 11"}`;

    /**
     * Marks what cannot be told from the best, by rings or, of many, by hatching their cells; and
     * the least time of what is shown. Beside the figures, where cells have them.
     */
    function highlights(layer, { values, isTime }, x, y, hasFigures) {
        const centre = (k) => {
            const shift = hasFigures ? 0.38 * cell(k, x, y).width : 0;
            return [x.at(p[k]) - shift, y.at(m[k])];
        };
        const family = study.hasIntervals ? indices.filter((k) => indistinguishable[k]) : [];
        if (family.length > MOST_RINGS) {
            const d = family.map((k) => box(cell(k, x, y))).join("");
            layer.append(svg("path", { class: "hatched", d }));
        } else {
            layer.append(charts.points("family-under", "circle", family.map(centre), 6));
            layer.append(charts.points("family", "circle", family.map(centre), 6));
        }
        if (isPartlyMeasured) {
            const ran = indices.filter((k) => measured_s[k] !== null);
            const corner = (k) => {
                const { x: left, y: top, height } = cell(k, x, y);
                return hasFigures ? [left + 5, top + height - 5] : centre(k);
            };
            layer.append(charts.points("ran", "circle", ran.map(corner), 2));
        }
        const best = isTime ? study.least(values) : -1;
        if (best >= 0) layer.append(charts.points("optimum", "diamond", [centre(best)], 4));
    }

    function draw(parent) {
        const all = quantities();
        const isLarge = indices.filter((k) => indistinguishable[k]).length > MOST_RINGS;
        const ofFamily = isLarge
            ? { name: FAMILY, series: "hatched", isArea: true }
            : { name: FAMILY, series: "family", mark: "circle" };
        const options = Object.keys(all).map((name) => element("option", {}, name));
        const choice = element("select", {}, options);
        const chart = charts.create(parent, {
            title: study.hasRuns ? "Map of all (m, p) within what was timed" : "Map of all feasible (m, p)",
            isWide: true,
            description:
                "The chosen quantity at every m and p, as in the table of all configurations.",
            controls: [element("label", {}, "show ", choice)],
            legend: [
                { name: "least time of what is shown", series: "optimum", mark: "diamond" },
                ...(study.hasIntervals ? [ofFamily] : []),
                ...(isPartlyMeasured ? [{ name: "measured", series: "ran", mark: "circle" }] : []),
                { name: "as many APUs in use, m·p", series: "iso", isLine: true },
            ],
            onPick: study.select,
            draw(canvas) {
                const height = Math.max(Math.min(canvas.width * 0.62, 460), 300) + ABOVE;
                const frame = scales(canvas.width, height);
                const { x, y, area } = frame;
                const shown = all[choice.value];
                const shading = shades(shown);
                axes.draw(canvas.layer, {
                    x: { scale: x, label: "APUs of each thread, p", isWhole: true },
                    y: { scale: y, label: "host threads m", isWhole: true },
                    area,
                });
                canvas.layer.append(...cells(shown.values, shading, x, y));
                isoLines(canvas.layer, frame);
                const { width, height: tall } = cell(0, x, y);
                const isEven = x.kind === "linear" && y.kind === "linear";
                const hasFigures = isEven && width >= 34 && tall >= 13;
                if (hasFigures) canvas.layer.append(figures(shown, shading, x, y));
                highlights(canvas.layer, shown, x, y, hasFigures);
                key(canvas.layer, shading, { ...area, top: area.top - ABOVE });
                const hits = indices.map((k) => ({
                    x: x.at(p[k]),
                    y: y.at(m[k]),
                    box: cell(k, x, y),
                    index: k,
                    tip: () => study.describe(k),
                }));
                return { height, hits };
            },
        });
        choice.addEventListener("change", () => chart.redraw());
    }

    return { draw };
})();
