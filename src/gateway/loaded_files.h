// The files that the settings name: secrets, certificate, canned replies, admin key.
#pragma once

#include <memory>
#include <optional>

#include "auth/admin_key.h"
#include "auth/secret.h"
#include "base/file.h"
#include "base/result.h"
#include "core/log_ring.h"
#include "core/published.h"
#include "gateway/canned_replies.h"
#include "gateway/settings.h"
#include "net/tls.h"

namespace taut::gateway {

/// Main thread only, but what is published is read by all shards.
class LoadedFiles {
 public:
  /// Both outlive it.
  LoadedFiles(const Settings& settings, FileSystem& files) : settings_(settings), files_(files) {}

  /// At the start. Error: which file, what is wrong.
  [[nodiscard]] Status load();
  /// On SIGHUP: certificate and replies; what is wrong now leaves the old one in force, and a line.
  void load_again(LogRing& log);

  // REQUIRES: load() went well.
  [[nodiscard]] const auth::Secrets& secrets() const { return *secrets_; }
  [[nodiscard]] const std::optional<auth::AdminKey>& admin_key() const { return admin_key_; }
  /// nullptr: connections are plain.
  [[nodiscard]] Published<net::TlsContext>* certificate() const { return certificate_.get(); }
  [[nodiscard]] Published<CannedReplies>& replies() const { return *replies_; }

 private:
  [[nodiscard]] Result<std::shared_ptr<const CannedReplies>> load_replies();
  void load_certificate_again(LogRing& log);
  void load_replies_again(LogRing& log);

  const Settings& settings_;
  FileSystem& files_;
  std::optional<auth::Secrets> secrets_;
  std::optional<auth::AdminKey> admin_key_;
  std::unique_ptr<Published<net::TlsContext>> certificate_;
  std::unique_ptr<Published<CannedReplies>> replies_;
};

}  // namespace taut::gateway
