// Further settings of the platform that the user wants on a cluster of theirs. They go to the ConfigMap that every pod of the
// platform reads, so that no secret may be among them.
import { admissionSettings } from '../../../src/admission/config.ts'
import { brokerSettings } from '../../../src/broker/config.ts'
import { controllersSettings } from '../../../src/controllers/config.ts'
import type { Setting } from '../../../src/lib/config.ts'
import { messageOf } from '../../../src/lib/errors.ts'
import { processSettings } from '../../../src/process/config.ts'
import { sharedSourceSettings } from '../../../src/services/builds/source-store/config.ts'
import { storeSettings } from '../../../src/store/config.ts'

const known: ReadonlyMap<string, Setting<unknown>> = new Map(
  [processSettings, storeSettings, brokerSettings, controllersSettings, admissionSettings, sharedSourceSettings]
    .flatMap((settings): readonly Setting<unknown>[] => Object.values(settings))
    .map(setting => [setting.name, setting]),
)

/** The ports that Services and probes name, and what is mounted or made for a pod. */
const ofManifests =
  /_(PATH|FOLDER|SOCKET)$|^SEKISHO_(POD_ADDRESS|(HEALTH|BROKER|ADMISSION|TOKEN_DESK|SOURCE|REGISTRY_TOKEN)_PORT)$/

function parseLine(line: string): readonly [string, string] {
  const [, name = '', value = ''] = /^([A-Z_]+)=(.+)$/.exec(line) ?? []
  const setting = known.get(name)
  if (name === '') throw new Error(`must have lines such as SEKISHO_LOG_LEVEL=debug, not ${line}`)
  if (setting === undefined) throw new Error(`names ${name}, which no process of the platform reads`)
  if (setting.secret === true) throw new Error(`names ${name}, a secret: everybody who may read the ConfigMap would see it`)
  if (ofManifests.test(name)) throw new Error(`names ${name}, which the manifests of the platform decide`)
  try {
    setting.parse(value)
  } catch (error) {
    throw new Error(`has ${name}, which ${messageOf(error)}`)
  }
  return [name, value]
}

/**
 * Lines `NAME=value`; empty ones and those that begin with # are left out. Throws an Error that names the line and what is
 * wrong with it.
 */
export function parsePlatformSettings(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').map(line => line.trim())
  return Object.fromEntries(lines.filter(line => line !== '' && !line.startsWith('#')).map(parseLine))
}
