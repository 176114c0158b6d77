// A worker that gives its chart everything it has itself, to test what Node's permission model and the kernel refuse without
// the help of module-worker.ts. Only tests start it.
import { readFileSync, writeSync } from 'node:fs'

const { exit } = process
writeSync(3, 'ready\n')
const request = JSON.parse(readFileSync(0, 'utf8'))
const url = `data:text/javascript;base64,${Buffer.from(request.code).toString('base64')}`
try {
  const { chart } = await import(url)
  writeSync(3, `${request.answerKey} rendered ${JSON.stringify(await chart(request.input))}\n`)
} catch (error) {
  writeSync(3, `${request.answerKey} failed ${JSON.stringify(String(error))}\n`)
}
exit(0)
