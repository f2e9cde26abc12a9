// The demonstration page: builds the sides that the address asks for, the latency meter and the burst button.
import { Agent } from './demo-agent.mjs';
import { show_latency } from './demo-latency.mjs';
import { Visitor } from './demo-visitor.mjs';

const kBurstMessages = 100;
const kBurstGapMs = 10; // apart enough that the browser's own drawing is not what is measured

function main() {
  const as = new URLSearchParams(location.search).get('as');
  const meter = show_latency(document);
  const sides = [];
  if (as !== 'agent') sides.push(new Visitor(meter));
  if (as !== 'visitor') sides.push(new Agent(meter));
  document.body.dataset.sides = String(sides.length);
  if (sides.length === 1) {
    const other = as === 'agent' ? 'visitor' : 'agent';
    document.getElementById('latency-what').textContent =
      `From “send” of the ${other} to the frame’s arrival here: nothing until the ${other} writes, in a window of this browser.`;
  }
  document.getElementById('panes').replaceChildren(...sides.map((side) => side.element));
  for (const side of sides) side.start();
  const button = document.getElementById('burst');
  button.addEventListener('click', () => burst(sides[0], button));
}

async function burst(side, button) {
  button.disabled = true;
  for (let i = 1; i <= kBurstMessages; i++) {
    side.say(`Burst ${i} of ${kBurstMessages}`);
    await new Promise((resolve) => setTimeout(resolve, kBurstGapMs));
  }
  button.disabled = false;
}

main();
