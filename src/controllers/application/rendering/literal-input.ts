// What a chart puts into pods, written so that the kubelet gives it to the containers as the Application has it. Pure.
import { literal, literalWords } from '../../../api/pods/literal.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { ChartCron, ChartInput, ChartProcess } from '../../../services/charts/chart-input.ts'

type Probes = NonNullable<ChartProcess['probes']>

function words(given: readonly string[] | undefined): string[] | undefined {
  return given && literalWords(given)
}

function program<P extends ChartProcess | ChartCron>(given: P): P {
  return { ...given, ...defined({ command: words(given.command), args: words(given.args) }) }
}

function probes(given: Probes): Probes {
  const each = Object.entries(given).map(([name, probe]) => [name, { ...probe, ...defined({ command: words(probe.command) }) }])
  return Object.fromEntries(each) as Probes
}

/** For every chart, so that one of a ConfigMap neither changes a value nor gives a secret to who may write another one. */
export function literalInput(input: ChartInput): ChartInput {
  const processes = input.processes.map(one => ({ ...program(one), ...defined({ probes: one.probes && probes(one.probes) }) }))
  const env = input.env.map(one => ({ ...one, ...defined({ value: one.value === undefined ? undefined : literal(one.value) }) }))
  return { ...input, processes, env, ...defined({ cron: input.cron?.map(program) }) }
}
