// The class of the measuring machine, as far as it explains figures; never a name, an address or a path of the machine.
import { cpus, totalmem } from 'node:os'
import { tryCommand } from '../../../dev/cluster/run-command.ts'

export type Machine = {
  readonly processors: number
  readonly processorModel: string
  readonly memoryGigabytes: number
  readonly node: string
  readonly go: string
}

export async function machineClass(): Promise<Machine> {
  const all = cpus()
  const go = await tryCommand('go', ['env', 'GOVERSION']).catch(() => undefined)
  return {
    processors: all.length,
    processorModel: all[0]?.model.trim() ?? 'unknown',
    memoryGigabytes: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
    go: go?.code === 0 ? go.output.trim() : 'none',
  }
}

/** Processors for the measured program and for the load generator; empty on one processor or without `taskset`. */
export async function pinning(): Promise<{ readonly generator?: number; readonly measured?: number }> {
  if (cpus().length < 2) return {}
  const found = await tryCommand('taskset', ['--version']).catch(() => undefined)
  return found?.code === 0 ? { generator: 0, measured: 1 } : {}
}
