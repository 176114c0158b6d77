// The capacity of the API server and its store on this machine without other load: the same writes over bare connections. A
// controller that comes near this rate is not the limit.
import type { Figure } from '../harness/bench.ts'
import { coldStart, coldStartFigures } from './cold-start.ts'
import type { Fixture } from './fixture.ts'
import { bareProgram } from './our-program.ts'

const shown = [
  coldStartFigures.writes,
  coldStartFigures.servers,
  coldStartFigures.serversShare,
  coldStartFigures.controllerShare,
] as const

/** Finds the cluster empty and leaves it empty. */
export async function serverAlone(fixture: Fixture, count: number, signal: AbortSignal): Promise<readonly Figure[]> {
  const { operations, wallSeconds, figures = {} } = await coldStart(fixture, { program: bareProgram, count }, signal)
  return [
    { label: 'Applications whose children exist', value: operations / wallSeconds, unit: '/s' },
    ...shown.map(label => ({ label, value: figures[label] ?? Number.NaN, unit: '' })),
  ]
}
