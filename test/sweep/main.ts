// The process under test that is killed: the component that its argument names, assembled as the product does it, in a child
// process of the test that is started and stopped several times. It is a process of its own because only SIGKILL leaves exactly
// what a crash leaves: no `finally`, no flush, no last write. It makes no decisions and connects only to the proxies whose
// addresses it is given.
import { flushCompileCache } from 'node:module'
import { createKubeClient } from '../../src/kube/client/kube-client.ts'
import { loadKubeConnection } from '../../src/kube/kubeconfig/kubeconfig.ts'
import { createManager } from '../../src/kube/manager.ts'
import { messageOf } from '../../src/lib/errors.ts'
import { createLog } from '../../src/lib/log.ts'
import { createQuickClock } from '../fixtures/quick-clock.ts'
import type { OpenComponent } from './subject/component.ts'
import type { Component, FromSubject, RunSettings, ToSubject } from './subject/messages.ts'

const components: Readonly<Record<Component, () => Promise<{ readonly openComponent: OpenComponent }>>> = {
  broker: () => import('./subject/broker-component.ts'),
  controllers: () => import('./subject/controllers-component.ts'),
  'data-services': () => import('./subject/data-services-component.ts'),
}
const { openComponent } = await components[process.argv[2] as Component]()
const log = createLog({ level: 'info', name: 'subject' })
const send = (message: FromSubject): void => void process.send?.(message)

async function startComponent(settings: RunSettings): Promise<() => Promise<void>> {
  const { environment, aheadMilliseconds, clockRate } = settings
  // The process behaves as if it was restarted that much later, without waiting.
  const clock = createQuickClock(clockRate, aheadMilliseconds)
  const random = Math.random
  const connection = await loadKubeConnection({ environment, clock })
  const kube = createKubeClient({ connection, component: 'sweep', clock, random })
  const manager = createManager({ client: kube, log, clock, random })
  const app = await openComponent({ environment, kube, manager, log, clock })
  await manager.start()
  await app.start()
  return async () => {
    await manager.stop()
    await app.stop()
    await app.close()
    await kube.close()
  }
}

let stop: (() => Promise<void>) | undefined

async function handle(message: ToSubject): Promise<void> {
  if (message.kind === 'start') {
    stop = await startComponent(message.settings)
    return send({ kind: 'started' })
  }
  await stop?.()
  stop = undefined
  send({ kind: 'stopped' })
}

process.on('message', (message: ToSubject) => {
  handle(message).catch((error: unknown) => send({ kind: 'failed', message: messageOf(error) }))
})
// The test has ended.
process.on('disconnect', () => process.exit(0))
// Written now because this process may be killed: the next one loads from the cache.
flushCompileCache()
send({ kind: 'loaded' })
