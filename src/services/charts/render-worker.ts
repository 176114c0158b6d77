// The worker thread in which built-in charts run: loads a chart, calls it, answers with JSON. chart-thread.ts starts it. The
// main thread terminates it when a chart does not return; when a chart throws, the answer is the first line of the error
// message. It has no environment variables, and the main thread limits its heap. It never runs code that is not part of the
// platform.
import { parentPort } from 'node:worker_threads'
import * as cdk8s from 'cdk8s'
import * as plus from 'cdk8s-plus-33'
import { type ChartFunction, isBuiltIn, loadBuiltIn } from './built-in.ts'
import type { ChartSource, WorkerAnswer, WorkerRequest } from './chart-input.ts'

async function load(source: ChartSource): Promise<ChartFunction> {
  if (source.kind !== 'built-in') throw new Error('charts of ConfigMaps run in a process of their own')
  if (!isBuiltIn(source.name)) throw new Error(`there is no built-in chart named ${source.name}`)
  return loadBuiltIn(source.name)
}

async function answer(request: WorkerRequest): Promise<WorkerAnswer> {
  const { id } = request
  try {
    const chart = await load(request.chart)
    const objects = request.input === 'check' ? [] : await chart(request.input, { cdk8s, plus })
    if (!Array.isArray(objects)) throw new Error('chart must return an array of Kubernetes objects')
    const json = JSON.stringify(objects)
    if (json.length > request.maxAnswer) throw new Error(`chart rendered more than ${request.maxAnswer} characters of JSON`)
    return { kind: 'rendered', id, json }
  } catch (error) {
    const text = error instanceof Error ? error.message || error.name : String(error)
    return { kind: 'failed', id, message: text.split('\n', 1)[0]?.slice(0, 500) ?? 'the chart failed' }
  }
}

parentPort?.on('message', (request: WorkerRequest) => {
  void answer(request).then(reply => parentPort?.postMessage(reply))
})
parentPort?.postMessage({ kind: 'ready' } satisfies WorkerAnswer)
