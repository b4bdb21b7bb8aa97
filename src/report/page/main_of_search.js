// The page of a search: pictures that answer, and tables that sort.
document.body.append(charts.tip, charts.spoken);
for (const figure of document.querySelectorAll("figure.chart")) charts.attach(figure);
charts.spoken.textContent = "";
