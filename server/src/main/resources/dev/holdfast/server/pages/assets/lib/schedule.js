// The schedule of a message: its first attempt and the slots of its retries, as the contract has them. Retry n has its slot
// (2^n - 1) units after the base, the moment at which the first attempt failed or the message was parked untried.
//
//   const plan = schedule(message, { unit, retries, now });
//     plan.base        milliseconds, or null while nothing has failed and nothing is parked
//     plan.deadline    the last slot, or null
//     plan.slots       [{ number, at, offset, state, attempt }]  number 0 is the first attempt
//                      state: delivered | failed | next | coming | unused (no longer needed)
//     plan.known       whether the number of slots is the server's, and not only the usual one
//     plan.extra       attempts that used up no slot: probes, recovery, retries by hand
//     plan.place(time) where a time is between 0 (the base) and the number of retries: slots are one apart, whatever their times
import { setting } from './format.js';
import { speed } from './session.js';

const UNIT_MILLIS = 84_800;
const RETRIES = 11;

/** The unit and number of retries as the server's settings have them; null where they are not known. */
export function rulesOf(settings) {
  const value = (name) => (settings || []).find((one) => one.name === name)?.value;
  const unit = setting(value('retry.unit') || '');
  const retries = Number(value('retry.max'));
  return {
    unit: unit > 0 ? unit : null,
    retries: Number.isInteger(retries) && retries > 0 ? retries : null,
  };
}

/** The rules of a server whose settings the key may not see, as far as the message tells them. */
function told(message, scheduled) {
  const [first] = scheduled;
  if (first === undefined || first.outcome !== 'failure') {
    return { unit: null, retries: null };
  }
  const base = Date.parse(first.at) + first.durationMillis;
  const last = scheduled[scheduled.length - 1];
  if (message.status === 'dropped' && message.reason === 'exhausted' && scheduled.length > 1) {
    const retries = scheduled.length - 1;
    const unit = Math.max(1, Date.parse(last.at) - base) / (2 ** retries - 1);
    // One that was held back until the usual deadline had fewer attempts than it might have had; so had one whose attempts came
    // before the slots that its number of them tells.
    const late = retries < RETRIES && Date.parse(last.at) - base >= (2 ** RETRIES - 1) * (UNIT_MILLIS / speed());
    const early = scheduled.some((one, number) => number > 0 && Date.parse(one.at) - base < (2 ** number - 1) * unit * 0.9 - 1000);
    return late || early ? { unit: null, retries: null } : { unit, retries };
  }
  if (message.status === 'waiting' && message.nextAttemptAt && message.deadline) {
    const unit = Math.max(1, Date.parse(message.nextAttemptAt) - base) / (2 ** scheduled.length - 1);
    const retries = Math.round(Math.log2(1 + (Date.parse(message.deadline) - base) / unit));
    return retries >= scheduled.length && retries <= 24 ? { unit, retries } : { unit: null, retries: null };
  }
  return { unit: null, retries: null };
}

export function schedule(message, rules) {
  const scheduled = message.attempts.filter((one) => one.scheduled);
  const derived = rules.retries === null ? told(message, scheduled) : rules;
  const unit = rules.unit ?? derived.unit;
  const retries = derived.retries ?? Math.max(RETRIES, scheduled.length - 1);
  const extra = message.attempts.filter((one) => !one.scheduled);
  const length = 2 ** retries - 1;
  const first = scheduled[0];
  const deadline = message.deadline === null ? null : Date.parse(message.deadline);
  // A probe may have come before the first scheduled attempt; the base is then where the message was parked.
  let base = null;
  let step = unit;
  if (first !== undefined && first.outcome === 'failure') {
    base = Date.parse(first.at) + first.durationMillis;
    step = step ?? (deadline === null ? UNIT_MILLIS / speed() : (deadline - base) / length);
  }
  step = step ?? UNIT_MILLIS / speed();
  if (deadline !== null) {
    base = deadline - length * step;
  }
  const finished = message.status === 'delivered' || message.status === 'dropped';
  const slots = [];
  for (let number = 0; number <= retries; number++) {
    const attempt = scheduled[number];
    const offset = (2 ** number - 1) * step;
    let state = 'coming';
    if (attempt !== undefined) {
      state = attempt.outcome === 'success' ? 'delivered' : 'failed';
    } else if (finished) {
      state = 'unused';
    } else if (number === scheduled.length) {
      state = 'next';
    }
    slots.push({ number, offset, at: base === null ? null : base + offset, state, attempt });
  }
  const place = (time) => base === null || time <= base ? 0 : Math.min(retries + 0.4, Math.log2(1 + (time - base) / step));
  return { base, deadline: base === null ? null : base + length * step, slots, extra, retries, known: derived.retries !== null, place };
}
