"use strict";

// Elements and numbers. Every text goes into the page as a text node, so that a name can be anything.
const text = (() => {
    const SVG = "http://www.w3.org/2000/svg";

    function fill(node, attributes, children) {
        for (const [name, value] of Object.entries(attributes)) {
            if (value === null || value === undefined || value === false) continue;
            if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
            else node.setAttribute(name, value === true ? "" : value);
        }
        node.append(
            ...children.flat(Infinity).filter((child) => child !== null && child !== undefined),
        );
        return node;
    }

    /** An HTML element; attributes that are null or false are left out, `onclick` listens. */
    const element = (tag, attributes = {}, ...children) =>
        fill(document.createElement(tag), attributes, children);

    /** An SVG element. */
    const svg = (tag, attributes = {}, ...children) =>
        fill(document.createElementNS(SVG, tag), attributes, children);

    /** A name from the input, whose direction of writing is its own. */
    const name = (content) => element("bdi", { class: "name" }, String(content));

    const PREFIXES = [
        [1, ""],
        [1e-3, "m"],
        [1e-6, "µ"],
        [1e-9, "n"],
        [1e-12, "p"],
    ];
    const LARGE_PREFIXES = [
        [1e12, "T"],
        [1e9, "G"],
        [1e6, "M"],
        [1e3, "k"],
        [1, ""],
    ];

    /** Four significant digits, with digits in groups of three from 10,000 on. */
    function digits(value, count = 4) {
        if (value === 0) return "0";
        const size = Math.abs(value);
        if (size >= 10 ** count) {
            return size < 1e15
                ? Math.round(value).toLocaleString("en-US")
                : minus(value.toExponential(count - 1));
        }
        if (size < 1e-4) return minus(value.toExponential(count - 1));
        return minus(value.toPrecision(count));
    }

    const minus = (written) => written.replace(/^-/, "\u2212");

    /** A whole number, or four digits of one that is not. */
    const count = (value) =>
        Number.isInteger(value) ? minus(value.toLocaleString("en-US")) : digits(value);

    /** The prefix for a size: that in which it is at least 1, if there is one. */
    function prefix(size, prefixes = PREFIXES) {
        const smallest = prefixes[prefixes.length - 1];
        // What would be rounded up to the next prefix is written with that one.
        return prefixes.find(([factor]) => Math.abs(size) >= factor * 0.99995) ?? smallest;
    }

    /** A time with its prefix: 60.04 ms. */
    function seconds(value) {
        if (value === 0) return "0 s";
        const [factor, letter] = prefix(value);
        return `${digits(value / factor)}\u00a0${letter}s`;
    }

    /** The prefix of a number in a unit, as {exponent, unit} for a field that is typed into. */
    function fieldUnit(value, unit) {
        if (!unit) return { exponent: 0, unit };
        const prefixes = unit === "s" ? PREFIXES : LARGE_PREFIXES;
        // Where there is none yet, one of microseconds is the most likely.
        const [factor, letter] = prefix(value > 0 ? value : 1e-6, prefixes);
        return { exponent: Math.round(Math.log10(factor)), unit: `${letter}${unit}` };
    }

    /** A large number with its prefix: 22.49 GB/s. */
    function large(value, unit) {
        const [factor, letter] = prefix(value, LARGE_PREFIXES);
        return `${digits(value / factor)}\u00a0${letter}${unit}`;
    }

    /** A fraction as a percentage: 97.3 %. */
    function percent(fraction) {
        const value = 100 * fraction;
        const places = Math.abs(value) < 10 ? 2 : 1;
        return `${minus(Number.isInteger(value) ? String(value) : value.toFixed(places))}\u00a0%`;
    }

    /** The same with a sign, for deviations given in percent. */
    function deviation(value) {
        const written = value.toFixed(Math.abs(value) < 10 ? 2 : 1);
        const isZero = Number(written) === 0;
        return `${isZero || value < 0 ? "" : "+"}${isZero ? "0" : minus(written)}\u00a0%`;
    }

    /** The unit in which all of these times are written in one column or on one axis. */
    function commonUnit(values) {
        const sizes = values.filter((value) => value > 0).sort((a, b) => a - b);
        const [factor, letter] = prefix(sizes.length ? sizes[Math.floor(sizes.length / 4)] : 1);
        return { factor, name: `${letter}s` };
    }

    /**
     * An interval beside its value: ± half of it, where it is symmetric, so that a narrow one can
     * be told from nothing; from and to, where it ends at 0.
     */
    function interval(value, [low, high], write) {
        const half = (high - low) / 2;
        const isSymmetric = Math.abs((high + low) / 2 - value) <= 1e-9 * value + 1e-6 * half;
        return isSymmetric ? `±\u00a0${write(half)}` : `${write(low)} to ${write(high)}`;
    }

    /** What a number says, with all of its digits when a pointer rests on it. */
    const exact = (value, written, unit = "") =>
        element("span", { title: `${value}${unit && ` ${unit}`}` }, written);

    /** A (m, p) pair. */
    const pair = (m, p) => `(${m},\u00a0${p})`;

    return {
        element,
        svg,
        name,
        digits,
        count,
        seconds,
        large,
        interval,
        fieldUnit,
        percent,
        deviation,
        commonUnit,
        exact,
        pair,
        minus,
    };
})();
