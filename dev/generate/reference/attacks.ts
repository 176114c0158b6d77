// docs/reference/attacks.md: every attack of `make attack`, who makes it, and the layers that are expected to stop it; from the
// list itself.
import type { AttackDescription } from '../../attack/attack.ts'
import { attacks } from '../../attack/list.ts'
import { layers } from '../../attack/verdict.ts'
import { code, page, table } from '../markdown.ts'

function families(): ReadonlyMap<string, readonly AttackDescription[]> {
  return Map.groupBy(attacks, ({ name }) => name.split('/')[0] ?? name)
}

const forms = { long: 'builds; not in the short form', flood: 'with `--floods`' }

function rows(list: readonly AttackDescription[]): readonly (readonly string[])[] {
  return list.map(({ name, as, against, tries, expected, peer, form }) => [
    code(name),
    as,
    against,
    form === undefined ? tries : `${tries} (${forms[form]})`,
    expected.join(', '),
    peer ?? '',
  ])
}

/** The page as Markdown. */
export function attacksPage(): string {
  return page({
    title: 'Attacks',
    subject:
      'This page lists the attacks that `make attack` plays on the running platform, and who is expected to stop each of them.',
    source: '`dev/attack`',
    sections: [
      'An attack is many single attempts. An attempt counts as stopped only when its answer shows who stopped it, and that layer is one of those named here; anything else, such as a server error or an unexpected silence, is unclear. An attack that is unclear is repeated once with nothing beside it; what succeeds, and what is unclear again, fail the run.',
      '## Layers',
      table(
        ['Layer', 'How it is recognised'],
        Object.entries(layers).map(([name, text]) => [name, text]),
      ),
      ...[...families()].flatMap(([family, list]) => [
        `## ${family}`,
        table(['Attack', 'As', 'Against', 'What is tried', 'Expected layer', 'Also known as'], rows(list)),
      ]),
    ],
  })
}
