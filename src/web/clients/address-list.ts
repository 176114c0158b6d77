// Lists of addresses in CIDR notation (RFC 4632, RFC 4291 §2.3), such as the proxies that may say who their clients are. Pure.
import { BlockList, isIP } from 'node:net'
import type { Setting } from '../../lib/config.ts'

export type AddressList = {
  readonly isEmpty: boolean
  /** False for anything that is not an address. An IPv4 address in IPv6 form (`::ffff:…`) is the IPv4 address. */
  readonly contains: (address: string) => boolean
}

const separator = /[\s,]+/

function addTo(list: BlockList, text: string): void {
  const [address = '', length, ...rest] = text.split('/')
  const version = isIP(address)
  const most = version === 4 ? 32 : 128
  const wrong = new Error(`holds ${text.slice(0, 60)}; it must hold addresses or CIDRs such as 10.0.0.0/8 or 2001:db8::/32`)
  if (version === 0 || rest.length > 0) throw wrong
  if (length !== undefined && !(/^\d{1,3}$/.test(length) && Number(length) <= most)) throw wrong
  // Everybody would be believed, which is never what a list of proxies means.
  if (Number(length ?? most) === 0) throw new Error(`holds ${text}, which is everybody: name the proxies`)
  list.addSubnet(address, Number(length ?? most), version === 4 ? 'ipv4' : 'ipv6')
}

/** Addresses and CIDRs, separated by commas or white space. Throws an Error that names the wrong one. */
export function parseAddressList(text: string): AddressList {
  const list = new BlockList()
  for (const part of text.split(separator)) if (part !== '') addTo(list, part)
  return {
    isEmpty: list.rules.length === 0,
    contains(address) {
      const version = isIP(address)
      return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
    },
  }
}

/** A setting that holds a list of addresses; the default is nobody. */
export function addressListSetting(name: string, description: string): Setting<AddressList> {
  return { name, description, kind: 'list', default: '', parse: parseAddressList }
}
