import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  choiceSetting,
  integerSetting,
  optional,
  portSetting,
  readSettings,
  secretSetting,
  textSetting,
  urlSetting,
} from './config.ts'

const settings = {
  publicUrl: urlSetting('SEKISHO_PUBLIC_URL', 'where people reach the broker'),
  port: portSetting('SEKISHO_PORT', 'the port to listen on', { default: '8443' }),
  key: secretSetting('SEKISHO_KEY', 'the sealing key'),
  level: choiceSetting('SEKISHO_LOG_LEVEL', 'how much to log', ['info', 'debug'], { default: 'info' }),
  note: optional(textSetting('SEKISHO_NOTE', 'anything')),
  workers: integerSetting('SEKISHO_WORKERS', 'workers', { minimum: 1, maximum: 8, default: '2' }),
}

test('reads values, defaults and files; what is secret stays secret', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'sekisho-')), 'key')
  writeFileSync(file, 'from-file\n')
  const values = readSettings(settings, {
    SEKISHO_PUBLIC_URL: 'https://sekisho.example.com',
    SEKISHO_KEY_FILE: file,
    SEKISHO_PORT: '',
  })
  expect(values.publicUrl.hostname).toBe('sekisho.example.com')
  expect(values.port).toBe(8443)
  expect(values.key.reveal()).toBe('from-file')
  expect(values.level).toBe('info')
  expect(values.note).toBeUndefined()
  expect(JSON.stringify(values)).not.toContain('from-file')
  expect(Object.isFrozen(values)).toBe(true)
})

test('reports every problem at once, with the name of the variable', () => {
  const attempt = (): unknown =>
    readSettings(settings, {
      SEKISHO_PORT: '99999',
      SEKISHO_LOG_LEVEL: 'loud',
      SEKISHO_WORKERS: '1.5',
      SEKISHO_KEY_FILE: '/nowhere',
    })
  expect(attempt).toThrow(
    /SEKISHO_PUBLIC_URL is not set[\s\S]*SEKISHO_PORT must be a whole number from 0 to 65535[\s\S]*SEKISHO_KEY [\s\S]*SEKISHO_LOG_LEVEL must be one of info, debug[\s\S]*SEKISHO_WORKERS/,
  )
})
