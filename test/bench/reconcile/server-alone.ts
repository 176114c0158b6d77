// What the API server and its store can do on this machine when nobody but them has anything to do: the same writes by bare connections. A
// controller that comes near this rate is not what limits it.
import type { Figure } from '../harness/bench.ts'
import { coldStart, coldStartFigures } from './cold-start.ts'
import { bareProgram } from './our-program.ts'
import type { Fixture } from './fixture.ts'

const shown = [
  coldStartFigures.writes,
  coldStartFigures.servers,
  coldStartFigures.serversShare,
  coldStartFigures.controllerShare,
] as const

/** Finds the cluster empty and leaves it so. */
export async function serverAlone(fixture: Fixture, count: number, signal: AbortSignal): Promise<readonly Figure[]> {
  const { operations, wallSeconds, figures = {} } = await coldStart(fixture, { program: bareProgram, count }, signal)
  return [
    { label: 'Applications whose children exist', value: operations / wallSeconds, unit: '/s' },
    ...shown.map(label => ({ label, value: figures[label] ?? Number.NaN, unit: '' })),
  ]
}
