// The end of `make test`, where a reader of a cut log finds what was not simply green. The last lines can be pasted.
import type { StageResult } from './run-lane.ts'
import { timeLines } from './times.ts'

export function reportLines(stages: readonly StageResult[]): readonly string[] {
  const titles = (outcome: StageResult['outcome']): readonly string[] =>
    stages.filter(stage => stage.outcome === outcome).map(({ title }) => title)
  const failed = titles('failed')
  const lines = [...new Set(stages.flatMap(stage => stage.lines))]
  const isCommand = (line: string): boolean => line.startsWith('again: ')
  return [
    '',
    ...timeLines(stages),
    '',
    `stages: ${titles('passed').length} of ${stages.length} passed${failed.length === 0 ? '' : `; failed: ${failed.join(', ')}`}`,
    ...lines.filter(line => !isCommand(line)),
    ...lines.filter(isCommand),
  ]
}
