// The peer as a process: reads the same stream with the same HTTP library, counts its bytes and keeps nothing; often enough
// that it takes seconds.
import { request } from 'undici'
import { dispatchCommands } from '../harness/command-server.ts'
import { timed } from './timed.ts'

async function read(port: number, name: string): Promise<number> {
  const answer = await request(`http://127.0.0.1:${port}/api/v1/namespaces/acme-build/pods/${name}/log?container=build`)
  let bytes = 0
  for await (const chunk of answer.body) bytes += (chunk as Buffer).length
  return bytes
}

let missing = 0

await dispatchCommands({
  async collect({ port, name, bytes, times }) {
    const { value, ...measured } = await timed(async () => {
      let sum = 0
      for (let time = 0; time < Number(times); time++) sum += await read(Number(port), String(name))
      return sum
    })
    missing = Number(bytes) * Number(times) - value
    return { ...measured, outcome: 'Succeeded' }
  },
  compare: async () => ({ lostOrDoubled: Math.abs(missing), missingAtEnd: missing }),
  close: async () => ({}),
})
process.exit(0)
