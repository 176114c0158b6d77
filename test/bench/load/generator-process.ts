// The load generator as a process of its own, so that it neither shares a thread with what it measures nor counts in its CPU time.
// It holds one closed loop at a time: opened and warmed up by one question, run by the next.
import { answerEach } from '../harness/command-server.ts'
import { type ClosedLoop, openClosedLoop } from './closed-loop.ts'
import type { LoadPlan } from './planned-request.ts'

type Question =
  | { readonly do: 'open'; readonly plan: LoadPlan }
  | { readonly do: 'run'; readonly seconds: number }
  | { readonly do: 'close' }

let loop: ClosedLoop | undefined

async function answer(question: Question): Promise<object> {
  switch (question.do) {
    case 'open':
      loop = await openClosedLoop(question.plan)
      return { failures: await loop.warmUp() }
    case 'run':
      if (loop === undefined) throw new Error('there is no open loop to run')
      return loop.run(question.seconds)
    case 'close':
      loop?.close()
      loop = undefined
      return {}
  }
}

// The parent is this bench: its questions have the shape that it says.
await answerEach(question => answer(question as Question))
process.exit(0)
