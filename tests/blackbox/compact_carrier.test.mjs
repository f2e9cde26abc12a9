// The scenarios of other files, with everybody on the compact carrier.
process.env.TAUT_CARRIER = 'compact';
for (const name of ['sends', 'requests', 'resume', 'dispatch', 'claims', 'signals', 'list', 'hello', 'liveness', 'pressure', 'rating', 'blocking', 'replies', 'absence', 'allocations']) {
  await import(`./${name}.test.mjs`);
}
