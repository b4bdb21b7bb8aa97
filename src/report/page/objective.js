// What is best: the least time or, where the page has another objective, what that makes of a time. What is
// compared is a product, the least of which is the best: of a time and the factor of its configuration.
const objective = (() => {
    const told = study.data.objective ?? {
        ...{ name: "time", unit: null, is_time: true, is_most: false, is_measured: true },
        ...{ runs: "times", terms: null, tolerance: null, factor: null },
    };

    /** The factor of a configuration of this page; null of all others, unless it is 1. */
    function factor(m, p) {
        if (told.is_measured) return 1;
        const place = study.places.get(`${m},${p}`);
        return place === undefined ? null : told.factor[place];
    }

    const amount = (product) => (told.is_most ? 1 / product : product);

    /** An amount with its unit, of a product. */
    function shown(product) {
        if (told.is_time) return text.seconds(product);
        return `${text.digits(amount(product))}${told.unit ? `\u00a0${told.unit}` : ""}`;
    }

    /** The unit of a column or an axis of products. */
    const unitOf = (products) =>
        told.is_time ? text.commonUnit(products) : { factor: 1, name: told.unit };

    /** What stands over a column or along an axis. */
    const titled = (name, unit) => (unit.name ? `${name} [${unit.name}]` : name);

    return {
        name: told.name,
        unit: told.unit,
        isTime: told.is_time,
        isMost: told.is_most,
        isMeasured: told.is_measured,
        runs: told.runs,
        hasTimes: !told.terms,
        terms: told.terms,
        tolerance: told.tolerance,
        factor,
        amount,
        shown,
        unitOf,
        titled,
    };
})();
