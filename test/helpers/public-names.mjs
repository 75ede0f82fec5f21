/**
 * Preloaded into a service (`NODE_OPTIONS=--import`): names that end in `.example` have a public address, and connections to that address
 * lead to this machine. Everything above the operating system is the service's own, with its checks of addresses.
 */
import { promises as dns } from 'node:dns';

const PUBLIC = '93.184.215.14';

dns.Resolver.prototype.resolve4 = async (host) => {
  if (host.endsWith('.example')) return [PUBLIC];
  // A name whose owner wants to reach what only the service can.
  if (host.endsWith('.rebound.test')) return ['127.0.0.1'];
  throw Object.assign(new Error(`no address of ${host}`), { code: 'ESERVFAIL' });
};
dns.Resolver.prototype.resolve6 = async (host) => {
  throw Object.assign(new Error(`no address of ${host}`), { code: 'ENODATA' });
};

const { TCP } = process.binding('tcp_wrap');
const { connect } = TCP.prototype;
TCP.prototype.connect = function toThisMachine(request, address, ...port) {
  return connect.call(this, request, address === PUBLIC ? '127.0.0.1' : address, ...port);
};
