// Brings one server binary onto the machine: ways in order, the first good binary wins.

/** Must not throw; a way that does not work says why. */
export interface Way {
  readonly name: string;
  find(): Promise<Found>;
}

export type Found =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'refused'; readonly why: string };

/** Path of the binary. Throws naming every way that was tried and why it did not work. */
export async function provision(what: string, ways: readonly Way[]): Promise<string> {
  const tried: string[] = [];
  for (const way of ways) {
    const found = await way.find();
    if (found.kind === 'found') return found.path;
    tried.push(`  ${tried.length + 1}. ${way.name}: ${found.why}`);
  }
  throw new Error(`no usable ${what}; tried in this order:\n${tried.join('\n')}`);
}
