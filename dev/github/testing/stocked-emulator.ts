// An emulator for a test that is not about its keys or first commits: all share one stock of them, so that a start takes
// milliseconds.
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { processEnvironment } from '../../../src/lib/config.ts'
import { type EmulatorOptions, type RunningEmulator, startEmulator } from '../emulator.ts'
import { sharedStock } from '../seed/stock.ts'

const stock = sharedStock(join(processEnvironment()['SEKISHO_KEPT_FOLDER'] ?? tmpdir(), `sekisho-github-stock-${userInfo().uid}`))

/** As `startEmulator`; emulators have the same keys, and the same first commits of the same repositories. */
export function startStockedEmulator(options: EmulatorOptions = {}): Promise<RunningEmulator> {
  return startEmulator({ stock, ...options })
}
