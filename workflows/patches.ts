// Every change of a workflow that running histories would replay differently, one row each:
//
//   what changed, why, since which version -> the id given to `patched()`
//
// Rules
// 1. A change that adds, removes or reorders a command (activity, timer, child, upsert, marker)
//    gets a row here and a `patched(patches.<name>)` around it. Comments, messages and pure
//    functions in `core/` need none, unless what they return decides on a command.
// 2. A row is never removed or renamed while a history without its marker may still be open or
//    reset; then it first becomes `deprecatePatch`, and goes one release later.
// 3. A recorded history from before the change is added to `test/replay/histories/` with it.
// 4. Positions and ids are never changed by a patch: receivers de-duplicate by them for ever.
export const patches = {
  // Attempts of another copy of the run are put in doubt, not only waited for: their result signals
  // nobody otherwise. Since 0.1.0.
  othersInDoubt: 'others-in-doubt',
  // A run that ends over such an attempt opens its question: nobody was asked. Since 0.1.0.
  askAboutLeftOpen: 'ask-about-left-open',
  // A result that was stored although its activity failed is passed to the body: `act()` called it
  // missing. Since 0.1.0.
  valueAfterDoubt: 'value-after-doubt',
  // The copy of a run that had ended, and a run that fails, wait for their handlers: whoever sent
  // an update was told that the workflow had completed. Since 0.1.0.
  endAfterHandlers: 'end-after-handlers',
  // Commands that come while continuing as new is due go on to the next execution: as long as they
  // came fast enough there was none, until the history was full. Since 0.1.0.
  carryCommands: 'carry-commands',
  // An execution that only walked again what is recorded does not continue as new: where many
  // questions are open, the next one would do the same, for ever. Since 0.1.0.
  continueAfterProgress: 'continue-after-progress',
  // A question that was adopted, or that the run goes on beside, is opened again after somebody
  // ended it: nobody heard of that, and the screen asked nobody any more. Since 0.1.0.
  openEndedAgain: 'open-ended-again',
  // Commands are recorded a few at a time: what one workflow task scheduled for a flood of them was
  // more than the server takes, and it terminated the run. Since 0.1.0.
  recordInTurn: 'record-in-turn',
  // What an attempt was scheduled with goes with the doubt about it: closed without having entered,
  // it was on record without tool and payload, and under the revision of its closing. Since 0.1.0.
  keepUnsent: 'keep-unsent',
  // What a receiver answers decides whether a keyed action is sent again: it was, too, where the
  // question had failed, or the receiver was at work on it. Since 0.1.0.
  heedVerdict: 'heed-verdict',
  // What waits because it looks like another action in doubt is asked about, and goes on at once
  // when it is answered: it went on only with the next look at the gate. Since 0.1.0.
  wakeOnAnswer: 'wake-on-answer',
} as const satisfies Record<string, string>;
