// Student's t distribution, as far as a 95 % interval needs it.
const statistics = (() => {
    /** ln of the gamma function for x > 0: Stirling's series after shifting x to 10 or more. */
    function logGamma(x) {
        let shift = 0;
        let at = x;
        while (at < 10) {
            shift += Math.log(at);
            at += 1;
        }
        const inverse = 1 / (at * at);
        const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / at;
        return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + series - shift;
    }

    /** P(|T| > t) of Student's t: the regularised incomplete beta function of (freedom/2, 1/2). */
    function outside(t, freedom) {
        const x = freedom / (freedom + t * t);
        const [a, b] = [freedom / 2, 0.5];
        // The continued fraction converges fast on one side of the mean; elsewhere its mirror does.
        const isMirrored = x > (a + 1) / (a + b + 2);
        const tail = isMirrored ? fraction(b, a, 1 - x) : fraction(a, b, x);
        const weight = a * Math.log(x) + b * Math.log1p(-x);
        const scale = Math.exp(weight + logGamma(a + b) - logGamma(a) - logGamma(b));
        return isMirrored ? 1 - (scale * tail) / b : (scale * tail) / a;
    }

    /** The continued fraction of the incomplete beta function (Abramowitz, Stegun 26.5.8). */
    function fraction(a, b, x) {
        const TERMS = 400;
        // From the last term inwards; 400 are more than any freedom from 1 to 1e6 needs.
        let value = 1;
        for (let term = TERMS; term >= 1; term -= 1) {
            const half = Math.floor(term / 2);
            const coefficient =
                term % 2 === 0
                    ? (half * (b - half) * x) / ((a + 2 * half - 1) * (a + 2 * half))
                    : (-(a + half) * (a + b + half) * x) / ((a + 2 * half) * (a + 2 * half + 1));
            value = 1 + coefficient / value;
        }
        return 1 / value;
    }

    const known = new Map();

    /**
     * The 97.5 % quantile of Student's t with so many degrees of freedom, at least 1; of the normal
     * distribution where they are unknown, as the library has it.
     */
    function quantile(freedom) {
        if (freedom === null || freedom === undefined || freedom >= 1e6) return 1.959963984540054;
        const degrees = Math.max(freedom, 1);
        if (!known.has(degrees)) {
            let [low, high] = [0, 16];
            for (let step = 0; step < 60; step += 1) {
                const middle = (low + high) / 2;
                if (outside(middle, degrees) > 0.05) low = middle;
                else high = middle;
            }
            known.set(degrees, (low + high) / 2);
        }
        return known.get(degrees);
    }

    /** The 95 % interval of an estimate, which ends at 0; null without a standard error. */
    function interval(estimate) {
        if (estimate.std_error === null || estimate.std_error === undefined) return null;
        const half = quantile(estimate.freedom) * estimate.std_error;
        return [Math.max(estimate.value - half, 0), estimate.value + half];
    }

    return { quantile, interval };
})();
