// The key file: absent at first, then there, then another one.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeOpeningKey, openingKeyOf } from '../../identity/sealed-values/open.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { sealerFromFile } from './public-key.ts'

const place = { namespace: 'acme', name: 'shop', key: 'A' }

test('the file is used as soon as it exists, and again when it changes; what is not a key counts as absent', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'public-key-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'key.json')
  const find = sealerFromFile(path, { log: silentLog })
  expect(await find()).toBeUndefined()
  for (const key of [
    await openingKeyOf(await makeOpeningKey(new Date())),
    await openingKeyOf(await makeOpeningKey(new Date())),
  ]) {
    await writeFile(path, key.publicKey)
    const seal = await find()
    expect(await find()).toBe(seal)
    const sealed = (await seal?.(new SecretString('one'), place)) ?? ''
    expect((await key.open(sealed, place))?.reveal()).toBe('one')
  }
  await writeFile(path, '{"kid":"broken"')
  expect(await find()).toBeUndefined()
})
