#include "gateway/loaded_files.h"

#include <utility>

namespace taut::gateway {

Result<std::shared_ptr<const CannedReplies>> LoadedFiles::load_replies() {
  return CannedReplies::load(files_, settings_.replies_file, settings_.groups, settings_.max_text_bytes);
}

Status LoadedFiles::load() {
  Result<auth::Secrets> secrets = auth::Secrets::load(files_, settings_.secret_files);
  if (!secrets) return std::unexpected(secrets.error());
  secrets_ = std::move(*secrets);
  if (!settings_.tls_cert.empty()) {
    auto certificate = net::TlsContext::load(settings_.tls_cert, settings_.tls_key);
    if (!certificate) return std::unexpected(certificate.error());
    certificate_ = std::make_unique<Published<net::TlsContext>>(std::move(*certificate));
  }
  auto replies = load_replies();
  if (!replies) return std::unexpected(replies.error());
  replies_ = std::make_unique<Published<CannedReplies>>(std::move(*replies));
  if (settings_.admin_key_file.empty()) return {};
  Result<auth::AdminKey> key = auth::AdminKey::load(files_, settings_.admin_key_file);
  if (!key) return std::unexpected(key.error());
  admin_key_ = std::move(*key);
  return {};
}

void LoadedFiles::load_again(LogRing& log) {
  if (certificate_ == nullptr && settings_.replies_file.empty())
    return log.info("SIGHUP: nothing to read again without --tls-cert or --replies-file");
  if (certificate_ != nullptr) load_certificate_again(log);
  if (!settings_.replies_file.empty()) load_replies_again(log);
}

void LoadedFiles::load_replies_again(LogRing& log) {
  auto replies = load_replies();
  if (!replies) return log.error("the old replies stay: {}", replies.error().message);
  replies_->publish(std::move(*replies));
  log.info("agents who ask from now on get the new replies");
}

void LoadedFiles::load_certificate_again(LogRing& log) {
  auto certificate = net::TlsContext::load(settings_.tls_cert, settings_.tls_key);
  if (!certificate) return log.error("the old certificate stays: {}", certificate.error().message);
  certificate_->publish(std::move(*certificate));
  log.info("new connections get the new certificate");
}

}  // namespace taut::gateway
