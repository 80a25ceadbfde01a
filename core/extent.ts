// How much JSON there is, told without walking through all of it.

/** Whether it has more than `max` parts: each value counts 1, text also its UTF-16 units. */
export function isLargerThan(value: unknown, max: number): boolean {
  let left = max;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    left -= typeof next === 'string' ? next.length + 1 : 1;
    if (typeof next === 'object' && next !== null) {
      const members = Array.isArray(next) ? next : Object.entries(next).flat();
      // They count when it is their turn; so many are too many at once.
      if (members.length > left) return true;
      for (const member of members) open.push(member);
    }
    if (left < 0) return true;
  }
  return false;
}
