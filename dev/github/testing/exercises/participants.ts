// The participants of the exercises of the REST routes: the clients of the users of one emulator.
import type { RunningEmulator } from '../../emulator.ts'
import type { RestClient, RestClients } from '../rest-client.ts'

export type Participants = {
  readonly emulator: RunningEmulator
  readonly clients: RestClients
}

/** The client of the person with their personal token. */
export function person({ clients, emulator }: Participants, login: string): RestClient {
  return clients.by(emulator.personalTokens[login] ?? '')
}
