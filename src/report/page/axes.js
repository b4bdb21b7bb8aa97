// Scales from values to pixels, and their ticks.
const axes = (() => {
    const { svg } = text;

    /** The least and the largest of some numbers; [0, 1] of none. */
    function extent(values) {
        let [low, high] = [Infinity, -Infinity];
        for (const value of values) {
            if (value === null || !Number.isFinite(value)) continue;
            if (value < low) low = value;
            if (value > high) high = value;
        }
        return low <= high ? [low, high] : [0, 1];
    }

    /** A domain with room at both ends, as a share of its length. */
    function roomy([low, high], kind, share = 0.05) {
        if (kind === "log") {
            const room = Math.max((high / low) ** share, 1.02);
            return [low / room, high * room];
        }
        const room = share * (high - low || Math.abs(high) || 1);
        return [low - room, high + room];
    }

    /** From a domain onto pixels: {at(value), back(pixel)} and what it was made of. */
    function scale(kind, [low, high], [from, to]) {
        const through = kind === "log" ? Math.log : (value) => value;
        const length = through(high) - through(low) || 1;
        const at = (value) => from + ((through(value) - through(low)) / length) * (to - from);
        const back = (pixel) => {
            const value = through(low) + ((pixel - from) / (to - from)) * length;
            return kind === "log" ? Math.exp(value) : value;
        };
        return { kind, domain: [low, high], range: [from, to], at, back };
    }

    /** Ticks at round numbers, each with its importance: 0 is shown first. */
    function candidates({ kind, domain: [low, high] }, most, isWhole) {
        if (kind === "log" && isWhole) {
            const powers = [];
            for (let value = 1; value <= high; value *= 2) {
                if (value >= low) powers.push({ value, rank: 0 });
            }
            return powers;
        }
        if (kind === "log" && high / low > 4) {
            const found = [];
            const first = Math.floor(Math.log10(low));
            for (let decade = first; decade <= Math.log10(high); decade += 1) {
                for (let digit = 1; digit <= 9; digit += 1) {
                    const value = Number(`${digit}e${decade}`);
                    const rank = { 1: 0, 2: 1, 5: 2 }[digit] ?? 3;
                    if (value >= low && value <= high) found.push({ value, rank });
                }
            }
            return found;
        }
        const raw = (high - low) / Math.max(most, 1);
        const size = 10 ** Math.floor(Math.log10(raw));
        let step = [1, 2, 5, 10].map((each) => each * size).find((each) => each >= raw);
        if (isWhole) step = Math.max(Math.round(step), 1);
        const found = [];
        for (
            let index = Math.ceil(low / step - 1e-9);
            index * step <= high + 1e-9 * step;
            index += 1
        ) {
            found.push({ value: Number((index * step).toPrecision(12)), rank: 0 });
        }
        return found;
    }

    /** The ticks whose labels fit beside each other, `room(label)` pixels each. */
    function ticks(along, options) {
        const { room, factor = 1, isWhole = false } = options;
        const length = Math.abs(along.range[1] - along.range[0]);
        const longest = isWhole ? String(Math.floor(along.domain[1])) : "0000";
        const most = Math.max(length / (room(longest) * 1.25), 2);
        const all = candidates(along, most, isWhole).map((tick) => ({
            ...tick,
            label: label(tick.value / factor),
            at: along.at(tick.value),
        }));
        const shown = [];
        for (const tick of all.slice().sort((a, b) => a.rank - b.rank)) {
            const clears = (other) =>
                Math.abs(other.at - tick.at) >= (room(tick.label) + room(other.label)) / 2;
            if (shown.every(clears)) shown.push(tick);
        }
        return shown.sort((a, b) => a.at - b.at);
    }

    function label(value) {
        const written = Number(value.toPrecision(6));
        const size = Math.abs(written);
        if (size !== 0 && (size < 1e-4 || size >= 1e7)) return text.minus(written.toExponential());
        return text.minus(written.toLocaleString("en-US", { maximumSignificantDigits: 6 }));
    }

    const FONT = 11;
    /** About as wide as so many characters are at the size of tick labels. */
    const wide = (characters) => characters * FONT * 0.62;

    /**
     * Axes, grid and axis titles around the area in which a chart is drawn. `x.ticks` [{at, label}]
     * stand instead of round numbers, and have no grid.
     */
    function draw(layer, { x, y, area }) {
        const { left, right, top, bottom } = area;
        const grid = svg("path", { class: "grid" });
        const strokes = [];
        const labels = svg("g", { class: "ticks" });
        const room = (label) => wide(label.length) + 10;
        for (const tick of x.ticks ?? ticks(x.scale, { ...x, room })) {
            if (!x.ticks) strokes.push(`M${tick.at.toFixed(1)},${top}V${bottom}`);
            labels.append(
                svg("text", { x: tick.at, y: bottom + 15, "text-anchor": "middle" }, tick.label),
            );
        }
        for (const tick of ticks(y.scale, { ...y, room: () => 18 })) {
            strokes.push(`M${left},${tick.at.toFixed(1)}H${right}`);
            labels.append(
                svg("text", { x: left - 7, y: tick.at + 4, "text-anchor": "end" }, tick.label),
            );
        }
        grid.setAttribute("d", strokes.join(""));
        const middle = (top + bottom) / 2;
        const titles = svg(
            "g",
            { class: "axis-titles" },
            svg(
                "text",
                { x: (left + right) / 2, y: bottom + 33, "text-anchor": "middle" },
                x.label,
            ),
            svg(
                "text",
                {
                    x: 12,
                    y: middle,
                    "text-anchor": "middle",
                    transform: `rotate(-90 12 ${middle})`,
                },
                y.label,
            ),
        );
        const frame = svg("path", { class: "axes", d: `M${left},${top}V${bottom}H${right}` });
        layer.append(grid, frame, labels, titles);
    }

    /** Pixels that the labels of a vertical axis need at its left, with its title. */
    function leftMargin(along, options) {
        const found = ticks(along, { ...options, room: () => 18 });
        return 26 + wide(Math.max(...found.map((tick) => tick.label.length), 2));
    }

    return { extent, roomy, scale, ticks, draw, leftMargin, wide };
})();
