// What all tests share: the pages, a browser, and a page in it that tells what it complains of.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { after, before } from "node:test";

import { chromium } from "playwright-core";

/** A file among the pages. */
export const at = (name) => path.join(process.env.MMGP_PAGES, name);

/** What the program prints; what it warns of is not shown. */
export const mmgp = (...options) =>
    execFileSync(process.env.MMGP, options, {
        encoding: "utf8",
        maxBuffer: 1 << 28,
        stdio: ["ignore", "pipe", "ignore"],
    });

export const HOSTILE = `</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"'&amp;`;
export const REVERSED = "\u202e\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627";
export const LONG = "x".repeat(3000);

/** Pages of other objectives than the time: what each is of, and how it is asked for. */
export const OBJECTIVES = {
    cost: ["times.toml", "--objective", "cost"],
    "node-hours": ["times.toml", "--objective", "node-hours", "--per-node", "8"],
    replicas: ["times.toml", "--objective", "time/m"],
    within: ["times.toml", "--within", "40%"],
    rates: ["rates.toml"],
    "rates-cost": ["rates.toml", "--objective", "cost"],
    "published-cost": ["pbpi-qs20", "--objective", "cost"],
};

/** A browser for the tests of one file. */
export function browser() {
    const shared = {};
    before(async () => {
        shared.browser = await chromium.launch({
            executablePath: process.env.CHROMIUM,
            // Within a container the sandbox has no rights to build on.
            args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
        });
    });
    after(() => shared.browser?.close());
    return shared;
}

/**
 * A page of its own, 1280 by 900 unless told, awaited until it is drawn. `complaints` gathers whatever the console says, errors,
 * and every request but that for the file itself.
 */
export async function open({ browser }, name, { hash = "", isAwaited = true, ...options } = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        ...options,
    });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    const complaints = [];
    const address = pathToFileURL(at(name)).href;
    page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
    page.on("request", (request) => {
        if (request.url().split("#")[0] !== address) complaints.push(`request: ${request.url()}`);
    });
    await page.goto(address + hash);
    if (isAwaited && options.javaScriptEnabled !== false)
        await page.waitForSelector(".what-if .chart svg > g, #what-if .alarm");
    return { page, complaints, context };
}

/** The bars, points or cells of a chart: where a configuration is on the screen. */
export async function placeOf(page, title, [m, p]) {
    const figure = page.locator("figure", { hasText: title }).first();
    await figure.scrollIntoViewIfNeeded();
    return figure.locator(".stage > svg").evaluate(
        (svg, [title, m, p]) => {
            const index = study.places.get(`${m},${p}`);
            const hit = charts.hitsOf(title).find((each) => each.index === index);
            const frame = svg.getBoundingClientRect();
            const ratio = frame.width / svg.viewBox.baseVal.width;
            const box = hit.box ?? { x: hit.x, y: hit.y, width: 0, height: 0 };
            return {
                x: frame.left + (box.x + box.width / 2) * ratio,
                y: frame.top + (box.y + box.height / 2) * ratio,
            };
        },
        [title, m, p],
    );
}

/** The relative difference of two numbers. */
export const difference = (a, b) => (a === b ? 0 : Math.abs(a - b) / Math.abs(b));
