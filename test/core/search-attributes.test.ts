import { expect, test } from 'vitest';
import { searchAttributes, searchStates } from '../../core/search-attributes.ts';

test('search attributes keep names and types: servers refuse a change of type', () => {
  expect(searchAttributes).toMatchInlineSnapshot(`
    {
      "HoldfastAction": "Keyword",
      "HoldfastAuthRevision": "Int",
      "HoldfastRun": "Keyword",
      "HoldfastState": "Keyword",
      "HoldfastTool": "Keyword",
      "HoldfastUnknowns": "Int",
    }
  `);
  expect(searchStates).not.toContain('failed');
});
