// A process that appends to the audit log of an embedded database until it is killed, and says after each entry that it is durable.
// Started by 15-database.test.ts with the folder and a word for the entries.
import { systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { openStore } from '../../../src/store/open-store.ts'

const [dataFolder = '', word = '', sealingKey = ''] = process.argv.slice(2)
const store = await openStore({ dataFolder, sealingKeys: [new SecretString(sealingKey)], clock: systemClock, log: silentLog })
let next = 0
const appendForever = async (): Promise<never> => {
  for (;;) {
    next += 1
    const reason = `${word} ${next}`
    await store.audit.append({ action: 'token.minted', actor: 'test', object: 'Entry', outcome: 'allowed', reason, details: {} })
    process.stdout.write(`${reason}\n`)
  }
}
await Promise.all(Array.from({ length: 8 }, appendForever))
