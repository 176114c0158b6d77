// Turns the function of a command, which is loaded when the command runs, into an action of commander: kubectl starts `sekisho
// token` for every request, so that nothing may be loaded that it does not need.
import type { Command } from 'commander'
import type { ClusterContext, ClusterFlags } from '../commands/cluster-context.ts'
import type { CommandContext } from '../commands/context.ts'
import type { CliFlags } from '../config.ts'
import type { Terminal } from '../output.ts'

type Load<F> = () => Promise<F>

/** The arguments of a command in their order, then its options; commander appends the command itself. */
type Given<A extends readonly unknown[], O> = [...args: A, options: O, command: Command]

export type Runners = {
  /** For a command without arguments that asks the platform. */
  readonly run: <O>(
    load: Load<(context: CommandContext, options: O) => Promise<void>>,
  ) => (options: O & CliFlags, command: Command) => Promise<void>
  /** For one with a single argument, which it gets as `argument`. */
  readonly runOn: <O>(
    load: Load<(context: CommandContext, options: O & { readonly argument: string }) => Promise<void>>,
  ) => (argument: string, options: O & CliFlags, command: Command) => Promise<void>
  /** For a command on the cluster: it gets its options, then its arguments. */
  readonly onCluster: <A extends readonly unknown[], O>(
    load: Load<(context: ClusterContext, options: O, ...args: A) => Promise<void>>,
  ) => (...given: Given<A, O & ClusterFlags>) => Promise<void>
}

/** Options that are written before the command count where the command has none of its own. */
function withGlobal<O extends object>(own: O, command: Command): O {
  let top = command
  while (top.parent !== null) top = top.parent
  return { ...(top.opts() as Partial<O>), ...own }
}

/** The three forms of an action. */
export function createRunners(terminal: Terminal): Runners {
  const withAccount = async (flags: CliFlags, work: (context: CommandContext) => Promise<void>): Promise<void> => {
    const { withContext } = await import('../commands/context.ts')
    return withContext(flags, terminal, work)
  }
  return {
    run: load => (own, command) => {
      const options = withGlobal(own, command)
      return withAccount(options, async context => (await load())(context, options))
    },
    runOn: load => (argument, own, command) => {
      const options = withGlobal(own, command)
      return withAccount(options, async context => (await load())(context, { ...options, argument }))
    },
    onCluster:
      <A extends readonly unknown[], O>(load: Load<(context: ClusterContext, options: O, ...args: A) => Promise<void>>) =>
      async (...given: Given<A, O & ClusterFlags>) => {
        const { withCluster } = await import('../commands/cluster-context.ts')
        const options = withGlobal(given.at(-2) as O & ClusterFlags, given.at(-1) as Command)
        const args = given.slice(0, -2) as unknown as A
        return withCluster(options, terminal, async context => (await load())(context, options, ...args))
      },
  }
}
