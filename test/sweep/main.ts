// The process that is killed: the controllers or the broker (the argument says which), put together as the product does it, in a child of the
// test, one life after the other. It is a process of its own because only SIGKILL leaves behind exactly what a crash leaves: no finally, no
// flush, no last write. It decides nothing; what it talks to are the proxies whose addresses it is given.
import { flushCompileCache } from 'node:module'
import { createKubeClient } from '../../src/kube/client/kube-client.ts'
import { loadKubeConnection } from '../../src/kube/kubeconfig/kubeconfig.ts'
import { createManager } from '../../src/kube/manager.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { messageOf } from '../../src/lib/errors.ts'
import { createLog } from '../../src/lib/log.ts'
import { readStoreSettings } from '../../src/store/config.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { OpenComponent } from './subject/component.ts'
import type { FromSubject, Life, ToSubject } from './subject/messages.ts'

const { openComponent }: { readonly openComponent: OpenComponent } =
  process.argv[2] === 'broker'
    ? await import('./subject/broker-component.ts')
    : await import('./subject/controllers-component.ts')
const log = createLog({ level: 'info', name: 'subject' })
const say = (message: FromSubject): void => void process.send?.(message)

/** A clock that is ahead: the process came back that much later, and nobody had to wait. */
function clockAhead(milliseconds: number): Clock {
  return { ...systemClock, now: () => new Date(Date.now() + milliseconds) }
}

async function begin({ environment, aheadMilliseconds }: Life): Promise<() => Promise<void>> {
  const clock = clockAhead(aheadMilliseconds)
  const random = Math.random
  const connection = await loadKubeConnection({ environment, clock })
  const kube = createKubeClient({ connection, component: 'sweep', clock, random })
  const { location, sealingKeys } = readStoreSettings(environment)
  const store = await openStore({ ...location, sealingKeys, clock, log })
  const manager = createManager({ client: kube, log, clock, random })
  const app = await openComponent({ environment, store, kube, manager, log, clock })
  await manager.start()
  await app.start()
  return async () => {
    await manager.stop()
    await app.stop()
    await store.close()
    await kube.close()
  }
}

let end: (() => Promise<void>) | undefined

async function obey(message: ToSubject): Promise<void> {
  if (message.kind === 'begin') {
    end = await begin(message.life)
    return say({ kind: 'begun' })
  }
  await end?.()
  end = undefined
  say({ kind: 'ended' })
}

process.on('message', (message: ToSubject) => {
  obey(message).catch((error: unknown) => say({ kind: 'failed', message: messageOf(error) }))
})
// The test is gone: nobody needs this process.
process.on('disconnect', () => process.exit(0))
// The next process starts on what this one compiled, although this one will be killed.
flushCompileCache()
say({ kind: 'loaded' })
