import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hasDisplay, kubeconfigPath, readCliSettings } from './config.ts'
import { writePrivateFile } from './files/private-file.ts'
import { readTokens, tokenFile, writeTokens } from './files/token-cache.ts'

async function home(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'home-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('flags take precedence over the environment, which takes precedence over the file', async () => {
  const HOME = await home()
  await writePrivateFile(join(HOME, '.config/sekisho/config.json'), '{"issuer":"https://saved.example","caFile":"/saved.pem"}')
  expect((await readCliSettings({}, { HOME })).issuer).toBe('https://saved.example')
  const environment = { HOME, SEKISHO_ISSUER: 'https://environment.example' }
  expect(await readCliSettings({}, environment)).toMatchObject({ issuer: 'https://environment.example', caFile: '/saved.pem' })
  expect((await readCliSettings({ issuer: 'https://flag.example/x' }, environment)).issuer).toBe('https://flag.example')
})

test('a missing or plain http issuer is refused with a hint', async () => {
  const HOME = await home()
  await expect(readCliSettings({}, { HOME })).rejects.toThrow('sekisho login --issuer')
  await expect(readCliSettings({ issuer: 'http://x.example' }, { HOME })).rejects.toThrow('https URL')
})

test('an empty variable counts as not set, and the path of an authority file is absolute', async () => {
  const HOME = await home()
  await writePrivateFile(join(HOME, '.config/sekisho/config.json'), '{"issuer":"https://saved.example"}')
  const settings = await readCliSettings({ caFile: 'ca.pem' }, { HOME, SEKISHO_ISSUER: '', XDG_CONFIG_HOME: '' })
  expect(settings.issuer).toBe('https://saved.example')
  expect(settings.caFile).toBe(resolve('ca.pem'))
  expect(hasDisplay({ DISPLAY: '' }, 'linux')).toBe(false)
  expect(kubeconfigPath({ HOME, KUBECONFIG: '' })).toBe(join(HOME, '.kube', 'config'))
})

test('tokens of one issuer are never used for another', async () => {
  const HOME = await home()
  const one = await readCliSettings({ issuer: 'https://one.example' }, { HOME })
  const two = await readCliSettings({ issuer: 'https://two.example' }, { HOME })
  const tokens = { issuer: one.issuer, clientId: one.clientId, idToken: 'a', expiresAt: 1, refreshToken: undefined }
  await writeTokens(one, tokens)
  expect((await readTokens(one))?.idToken).toBe('a')
  expect(await readTokens(two)).toBeUndefined()
  await writePrivateFile(tokenFile(two), JSON.stringify(tokens))
  expect(await readTokens(two)).toBeUndefined()
})

test('a folder of tokens that is named is the only one', async () => {
  const HOME = await home()
  const settings = await readCliSettings({ issuer: 'https://one.example' }, { HOME, SEKISHO_TOKEN_FOLDER: join(HOME, 'mine') })
  const tokens = { issuer: settings.issuer, clientId: settings.clientId, idToken: 'a', expiresAt: 1, refreshToken: undefined }
  await writePrivateFile(join(HOME, '.local/state/sekisho/tokens', basename(tokenFile(settings))), JSON.stringify(tokens))
  expect(await readTokens(settings)).toBeUndefined()
})
