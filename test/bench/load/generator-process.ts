// The load generator as a process, so that it neither shares a thread with what it measures nor counts in its CPU time.
// It holds one closed loop at a time: opened and warmed up by one command, run by the next.
import { serveCommands } from '../harness/command-server.ts'
import { type ClosedLoop, openClosedLoop } from './closed-loop.ts'
import type { LoadPlan } from './planned-request.ts'

type Command =
  | { readonly do: 'open'; readonly plan: LoadPlan }
  | { readonly do: 'run'; readonly seconds: number }
  | { readonly do: 'close' }

let loop: ClosedLoop | undefined

async function answer(command: Command): Promise<object> {
  switch (command.do) {
    case 'open':
      loop = await openClosedLoop(command.plan)
      return { failures: await loop.warmUp() }
    case 'run':
      if (loop === undefined) throw new Error('there is no open loop to run')
      return loop.run(command.seconds)
    case 'close':
      loop?.close()
      loop = undefined
      return {}
  }
}

// The parent is this bench: its commands have the declared form.
await serveCommands(command => answer(command as Command))
process.exit(0)
